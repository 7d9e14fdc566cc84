/**
 * Describes in words what calls that spend or delete would do, for the person who confirms them. Each summary names
 * the object by its label or name, and every amount of credits with its price in US dollars.
 *
 * @throws AppError not_found when the object does not exist
 */
import { getAlert } from '#src/alerts/history/card.ts'
import { listTokens } from '#src/auth/service.ts'
import { readBalance } from '#src/billing/account/service.ts'
import { MIN_TOPUP_CREDITS, PERIOD_DAYS } from '#src/billing/price-list.ts'
import { creditsWithUsd, renewalText } from '#src/billing/price-text.ts'
import type {
  NewSubscription,
  Renewal,
  Subscription,
  SubscriptionChanges,
} from '#src/billing/subscriptions/model.ts'
import { quoteRenewal } from '#src/billing/subscriptions/renew-once.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import * as subscriptions from '#src/billing/subscriptions/service.ts'
import type { NewTopup } from '#src/billing/topups/model.ts'
import { formatDateTime, formatDuration } from '#src/i18n/format.ts'
import { id as bare, type Translate, translator, typed } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import * as destinations from '#src/recipients/destinations.ts'
import { linkedAccounts } from '#src/recipients/linked-accounts.ts'
import { findRecipient } from '#src/recipients/service.ts'
import { getWatch } from '#src/watches/manage/service.ts'
import type { App, RowBound } from '../define.ts'
import { type Summarized, type SummarizedById, ZONE } from './summarized.ts'

export async function summarizeWatchDeletion({
  app,
  caller,
  locale,
  params: { id },
}: SummarizedById): Promise<string> {
  const { label } = await getWatch(app, caller, id)
  return translator(locale)('operations:does.deleteWatch', { id: bare(id), label: typed(label) })
}

export async function summarizeAlertDeletion({
  app,
  caller,
  locale,
  params: { id },
}: SummarizedById): Promise<string> {
  const reader = { locale, timezone: ZONE }
  const { envelope } = await getAlert(app, caller, { id, reader, recipientId: null })
  const { title, firedAt } = envelope.message
  return translator(locale)('operations:does.deleteAlert', {
    id: bare(id),
    title,
    time: formatDateTime(new Date(firedAt), locale, ZONE),
  })
}

export async function summarizeTokenRevocation({
  app,
  caller,
  locale,
  params: { id },
}: SummarizedById): Promise<string> {
  const { data } = await listTokens(app, caller)
  const token = data.find((watch) => watch.id === id)
  if (token === undefined) throw new AppError('not_found', 'not_found')
  const label = token.label === null ? bare('–') : typed(token.label)
  return translator(locale)('operations:does.revokeToken', { id: bare(id), label })
}

export async function summarizeChannelRemoval({
  app,
  caller,
  locale,
  params,
}: Summarized & { readonly params: { readonly key: string } }): Promise<string> {
  const states = await destinations.listChannels(app, caller)
  const state = states.find(({ key }) => key === params.key)
  if (state === undefined || !state.configured) throw new AppError('not_found', 'not_found')
  const t = translator(locale)
  const channel = t(`bot:channel.${state.key}`)
  return t('operations:does.removeChannel', { channel, target: typed(state.target ?? channel) })
}

/** Names what is lost with the account: its credits, as its owner must name them, too. */
export async function summarizeAccountDeletion({
  app,
  caller,
  locale,
}: Summarized): Promise<string> {
  const t = translator(locale)
  const { balanceCredits } = await readBalance(app.db, caller.wallet)
  return t('operations:does.deleteAccount', {
    address: bare(caller.wallet),
    balance: creditsWithUsd(t, balanceCredits),
  })
}

export async function summarizeRecipientDeletion({
  app,
  caller,
  locale,
  params: { id },
}: SummarizedById): Promise<string> {
  const recipient = await findRecipient(app, caller, id)
  if (recipient === undefined) throw new AppError('not_found', 'not_found')
  const t = translator(locale)
  return t('operations:does.deleteRecipient', {
    id: bare(id),
    name: typed(recipient.name),
    channel: t(`bot:channel.${recipient.channel}`),
  })
}

export async function summarizeSlotPurchase({
  app,
  caller,
  locale,
  body,
}: Summarized & { readonly body: NewSubscription }): Promise<string> {
  const t = translator(locale)
  const { quantity, periods, totalCredits, balanceCredits } = await subscriptions.quoteSlots(
    app,
    caller,
    body,
  )
  const bought = t('operations:does.createSubscription', {
    slots: t('units:slots', { count: quantity }),
    duration: durationOf(t, periods),
    price: creditsWithUsd(t, totalCredits),
    balance: creditsWithUsd(t, balanceCredits),
  })
  const renewal = renewalText(t, { quantity, periods, renew: body.autoRenew })
  return [bought, renewal].join('\n')
}

/** Names the term that the call pays, or says that it is paid already. */
export async function summarizeRenewal({
  app,
  caller,
  locale,
  params: { id },
  body: { term },
}: SummarizedById & { readonly body: Renewal }): Promise<string> {
  const t = translator(locale)
  const next = await quoteRenewal(app, caller, { id })
  if (term < next.term) return t('operations:does.renewSubscription.paid', { number: bare(id) })
  const { quantity, periods, totalCredits, balanceCredits, endsAt } = next.quote
  return t('operations:does.renewSubscription', {
    number: bare(id),
    slots: t('units:slots', { count: quantity }),
    duration: durationOf(t, periods),
    time: formatDateTime(endsAt, locale, ZONE),
    price: creditsWithUsd(t, totalCredits),
    balance: creditsWithUsd(t, balanceCredits),
  })
}

export async function summarizeRenewalChange({
  app,
  caller,
  locale,
  body: { id, autoRenew },
}: Summarized & { readonly body: SubscriptionChanges }): Promise<string> {
  const t = translator(locale)
  const renewed = (await listRunning(app, caller)).filter(
    (subscription) => (id ?? subscription.id) === subscription.id,
  )
  if (id !== undefined && renewed.length === 0) throw new AppError('not_found', 'not_found')
  const each = renewed.map(({ id: number, quantity, periods }) =>
    t('operations:does.renewal', {
      number: bare(number),
      slots: t('units:slots', { count: quantity }),
      duration: durationOf(t, periods),
      price: creditsWithUsd(t, priceSlots(quantity, periods).totalCredits),
    }),
  )
  const does = autoRenew ? 'updateSubscriptions' : 'updateSubscriptions.off'
  return [t(`operations:does.${does}`), ...each].join('\n')
}

/** The subscriptions that a change of auto-renew would affect now. */
export async function readRenewalBound({
  app,
  caller,
  body: { id },
}: Pick<Summarized, 'app' | 'caller'> & { readonly body: SubscriptionChanges }): Promise<RowBound> {
  const renewed = (await listRunning(app, caller)).filter((one) => (id ?? one.id) === one.id)
  return { newestId: Math.max(0, ...renewed.map((one) => one.id)), count: renewed.length }
}

/** The subscriptions that have not ended. */
async function listRunning(app: App, caller: Caller): Promise<readonly Subscription[]> {
  const running: Subscription[] = []
  for (let cursor: string | undefined, isMore = true; isMore; ) {
    const query = cursor === undefined ? {} : { cursor }
    const page = await subscriptions.listSubscriptions({ ...app, linkedAccounts }, caller, query)
    running.push(...page.data.filter(({ status }) => status !== 'expired'))
    cursor = page.nextCursor ?? undefined
    isMore = cursor !== undefined
  }
  return running
}

export async function summarizeTopup({
  locale,
  body,
}: Summarized & { readonly body: NewTopup | undefined }): Promise<string> {
  const t = translator(locale)
  const { credits = MIN_TOPUP_CREDITS, then } = body ?? {}
  const quote = t('operations:does.createTopup', { price: creditsWithUsd(t, credits) })
  if (then === undefined) return quote
  const { slots: quantity, periods, autoRenew: renew = false } = then
  const bought = t('operations:does.createTopup.then', {
    slots: t('units:slots', { count: quantity }),
    duration: durationOf(t, periods),
    price: creditsWithUsd(t, priceSlots(quantity, periods).totalCredits),
  })
  return [quote, bought, renewalText(t, { quantity, periods, renew })].join('\n')
}

function durationOf(t: Translate, periods: number): string {
  return formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'long')
}
