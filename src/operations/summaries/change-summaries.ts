/**
 * Describes in words what calls that overwrite, silence, accept or hand out rights would do, for the person who confirms
 * them. What a change contains stands there as it was sent.
 *
 * @throws AppError not_found when the object does not exist
 */
import type { z } from 'zod'
import { getAlert } from '#src/alerts/history/card.ts'
import type { AcknowledgeInput } from '#src/alerts/model.ts'
import { TRIAL_DAYS, TRIAL_SLOTS } from '#src/billing/price-list.ts'
import { formatDateTime, formatDuration } from '#src/i18n/format.ts'
import { id as bare, translator, typed } from '#src/i18n/translate.ts'
import { DAY_SECONDS, MINUTE_SECONDS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import * as destinations from '#src/recipients/destinations.ts'
import type { MaintenanceRequest } from '#src/recipients/maintenance.ts'
import type {
  ChannelSetup,
  NewRecipient,
  RecipientChanges,
  TelegramLinkRequest,
} from '#src/recipients/model.ts'
import { linkScopes } from '#src/recipients/rules.ts'
import { findRecipient } from '#src/recipients/service.ts'
import { getSettings, type NewSettings } from '#src/recipients/settings.ts'
import { getWatch } from '#src/watches/manage/service.ts'
import type { WatchChanges } from '#src/watches/model.ts'
import { type Summarized, type SummarizedById, ZONE } from './summarized.ts'

export async function summarizeWatchChange({
  app,
  caller,
  locale,
  params: { id },
  body,
}: SummarizedById & { readonly body: WatchChanges }): Promise<string> {
  const { label } = await getWatch(app, caller, id)
  const values = { id: bare(id), label: typed(label), changes: changesOf(body) }
  return translator(locale)('operations:does.updateWatch', values)
}

/** What a new recipient gets. Whether one without `default` becomes a default is decided when it is created. */
export async function summarizeNewRecipient({
  locale,
  body,
}: Summarized & { readonly body: NewRecipient }): Promise<string> {
  const { name, channel, ...changes } = body
  const t = translator(locale)
  const created = t('operations:does.createRecipient', {
    name: typed(name),
    channel: t(`bot:channel.${channel}`),
    changes: changesOf(changes),
  })
  const gets = body.default === true ? 'default' : 'ifFirst'
  return [created, t(`operations:does.createRecipient.${gets}`)].join('\n')
}

export async function summarizeRecipientChange({
  app,
  caller,
  locale,
  params: { id },
  body,
}: SummarizedById & { readonly body: RecipientChanges }): Promise<string> {
  const recipient = await findRecipient(app, caller, id)
  if (recipient === undefined) throw new AppError('not_found', 'not_found')
  const { name, channel, target } = recipient
  const t = translator(locale)
  const change = t('operations:does.updateRecipient', {
    id: bare(id),
    name: typed(name),
    channel: t(`bot:channel.${channel}`),
    changes: changesOf(body),
  })
  return [change, t('operations:does.destinationNow', { target: typed(target) })].join('\n')
}

export async function summarizeChannelSetup({
  app,
  caller,
  locale,
  params,
  body,
}: Summarized & {
  readonly params: { readonly key: string }
  readonly body: ChannelSetup
}): Promise<string> {
  const states = await destinations.listChannels(app, caller)
  const state = states.find(({ key }) => key === params.key)
  if (state === undefined) throw new AppError('not_found', 'not_found')
  const t = translator(locale)
  const values = { channel: t(`bot:channel.${state.key}`), changes: changesOf(body) }
  const set = t('operations:does.configureChannel', values)
  if (state.target === null) return set
  return [set, t('operations:does.destinationNow', { target: typed(state.target) })].join('\n')
}

/** Names what changes; everything if nothing does. */
export async function summarizeSettings({
  app,
  caller,
  locale,
  body,
}: Summarized & { readonly body: NewSettings }): Promise<string> {
  const now: Readonly<Record<string, unknown>> = await getSettings(app, caller)
  const different = Object.entries(body).filter(
    ([name, value]) => textOf(value) !== textOf(now[name]),
  )
  const changes = different.length === 0 ? body : Object.fromEntries(different)
  return translator(locale)('operations:does.replaceSettings', { changes: changesOf(changes) })
}

/** Times are in UTC, as in the call. */
export async function summarizeMaintenance({
  app,
  locale,
  body: { name, minutes, from = app.clock.now(), watchIds = null, repeat = null },
}: Summarized & { readonly body: MaintenanceRequest }): Promise<string> {
  const t = translator(locale)
  const times = {
    from: formatDateTime(from, locale, ZONE),
    duration: formatDuration(minutes * MINUTE_SECONDS, locale, 'long'),
  }
  const sentence = t('operations:does.createMaintenance', { name: typed(name), ...times })
  const which =
    watchIds === null
      ? t('operations:does.createMaintenance.all')
      : t('operations:does.createMaintenance.some', { watches: bare(watchIds.join(', ')) })
  const often = repeat === null ? [] : [t('operations:does.createMaintenance.weekly')]
  return [sentence, which, ...often].join('\n')
}

export async function summarizeMaintenanceEnd({
  app,
  caller,
  locale,
  params: { id: windowId },
}: Summarized & { readonly params: { readonly id: string } }): Promise<string> {
  const { maintenance } = await getSettings(app, caller)
  const window = maintenance.find(({ id }) => id === windowId)
  if (window === undefined) throw new AppError('not_found', 'not_found')
  return translator(locale)('operations:does.deleteMaintenance', { name: typed(window.name) })
}

export async function summarizeAcknowledgement({
  app,
  caller,
  locale,
  params: { id },
  body,
}: SummarizedById & {
  readonly body: z.output<typeof AcknowledgeInput> | undefined
}): Promise<string> {
  const reader = { locale, timezone: ZONE }
  const { envelope } = await getAlert(app, caller, { id, reader, recipientId: null })
  const { title, firedAt } = envelope.message
  const time = formatDateTime(new Date(firedAt), locale, ZONE)
  const does = body?.acknowledged === false ? 'acknowledge.undo' : 'acknowledge'
  return translator(locale)(`operations:does.${does}`, { id: bare(id), title, time })
}

export async function summarizeTerms({ app, locale }: Summarized): Promise<string> {
  const { version, url } = app.billing.terms
  return translator(locale)('operations:does.acceptTerms', {
    version: bare(version),
    url: bare(url),
  })
}

export async function summarizeTrial({ locale }: Summarized): Promise<string> {
  const t = translator(locale)
  return t('operations:does.startTrial', {
    slots: t('units:slots', { count: TRIAL_SLOTS }),
    duration: formatDuration(TRIAL_DAYS * DAY_SECONDS, locale, 'long'),
  })
}

export async function summarizeTelegramLink({
  caller,
  locale,
  body,
}: Summarized & { readonly body: TelegramLinkRequest | undefined }): Promise<string> {
  const granted = linkScopes(caller.scopes, body?.scopes)
  const scopes = granted.ok ? granted.scopes : (body?.scopes ?? [])
  const values = { scopes: bare(scopes.join(', ')) }
  return translator(locale)('operations:does.createTelegramLink', values)
}

/** Fields of a change with their values, on one line. */
function changesOf(body: object) {
  return typed(
    Object.entries(body)
      .map(([name, value]) => `${name}: ${textOf(value)}`)
      .join(', '),
  )
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
  return text ?? ''
}
