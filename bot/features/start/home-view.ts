import { packed } from '#src/actions/codec.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { formatDate, formatList } from '#src/i18n/format.ts'
import { nameList } from '#src/i18n/name-list.ts'
import { type Translate, typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { listData, USUAL_FILTER } from '../../views/alert-list.ts'
import { textHtml } from '../../views/markup.ts'
import { act, type Reader, screen, type View, walletName } from '../../views/view.ts'
import type { Funds } from '../../views/wallet.ts'
import { mutedLine, slotsText, watchSummaryLines } from '../../views/wallet-lines.ts'
import { type TrialOffer, trialText } from '../connect/view.ts'
import { type TopicPlace, topicLine } from '../topic/view.ts'

/** The wallet that the screens of a private chat are about. */
interface HomeWallet {
  readonly address: string
  readonly funds: Funds
  readonly canWrite: boolean
  /** End of the chat's mute; if it is in the past, the chat is not muted. */
  readonly mutedUntil: Date | null
  /** The next renewal with its price. */
  readonly renewal: { readonly at: Date; readonly credits: number } | undefined
  /** The free trial, while the wallet has no slot and may start the trial. */
  readonly trial: TrialOffer | undefined
}

/** Home screen of a linked private chat. */
export function home(
  reader: Reader,
  wallet: HomeWallet,
  watches: readonly Watch[],
  options: {
    readonly now: Date
    readonly notice?: string
  },
): View {
  const { t } = reader
  const { mutedUntil, canWrite } = wallet
  const { balanceCredits, slots } = wallet.funds
  const { now, notice } = options
  const lines = [
    notice,
    t.html('bot:home.title', { wallet: walletName(wallet.address) }),
    ...watchSummaryLines(reader, watches, now),
    mutedLine(reader, mutedUntil, now),
    ...(reader.isBillingOff === true
      ? []
      : fundsLines(
          reader,
          `💳 ${textHtml(creditsWithUsd(t, balanceCredits))}`,
          slotsText(t, slots),
          wallet,
        )),
    wallet.trial && trialText(t, wallet.trial),
    canWrite ? undefined : t.html('bot:chat.receiveOnly'),
  ]
  return screen(lines, canWrite ? managerRows(reader, wallet, watches.length > 0) : readerRows(t))
}

/** Lines about credits and slots, and about a renewal that the credits do not cover. */
function fundsLines(
  { t, timezone }: Reader,
  credits: string,
  slots: string,
  { renewal, funds }: HomeWallet,
): readonly string[] {
  if (renewal === undefined || renewal.credits <= funds.balanceCredits) {
    return [`${credits} · ${slots}`]
  }
  const needs = t.html('bot:home.renewal', {
    date: formatDate(renewal.at, t.locale, timezone),
    credits: creditsWithUsd(t, renewal.credits),
  })
  return [`${credits} · ${needs}`, slots]
}

function managerRows(reader: Reader, { trial }: HomeWallet, watchesAny: boolean): Rows {
  const { t, isBillingOff } = reader
  const newWatch = act(t('bot:button.newWatch'), packed('new.start'))
  const watches = act(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  const primary = (button: Button): Button => ({ ...button, style: 'primary' })
  const credits =
    trial === undefined ? act(t('bot:button.credits'), packed('slots')) : trialStart(t, trial)
  return [
    trial === undefined ? [] : [credits],
    watchesAny ? [primary(watches), newWatch] : [primary(newWatch), watches],
    [act(t('bot:button.alerts'), listData(USUAL_FILTER)), providerButton(t)],
    [...(trial !== undefined || isBillingOff === true ? [] : [credits]), settingsButton(t)],
  ]
}

/** Button that starts the trial. The line above contains the terms that the button accepts. */
function trialStart(t: Translate, { termsCode }: TrialOffer): Button {
  return act(
    t('bot:button.startTrial'),
    packed('trial.start', { next: 'choose', terms: termsCode }),
  )
}

function readerRows(t: Translate): Rows {
  return [
    [
      act(t('bot:button.watches'), packed('watch.list', { page: 1 })),
      act(t('bot:button.alerts'), listData(USUAL_FILTER)),
    ],
    [providerButton(t), settingsButton(t)],
  ]
}

function providerButton(t: Translate): Button {
  return act(t('bot:button.provider'), packed('status.pick'))
}

function settingsButton(t: Translate): Button {
  return act(t('bot:button.settings'), packed('settings'))
}

/** Home screen of a linked group. The buttons work for its managers. */
export function groupHome(
  reader: Reader,
  group: {
    readonly title: string
    /** Linked wallets, the chosen wallet first. */
    readonly wallets: readonly string[]
    /** Topic of the alerts; undefined in a group without topics. */
    readonly topic: TopicPlace | undefined
    /** First names of the members who may press the buttons. */
    readonly managers: readonly string[]
    /** Minimum severity of the chosen wallet's alerts here. */
    readonly minSeverity: Severity
  },
  watches: readonly Watch[],
  options: { readonly now: Date; readonly buttons: boolean; readonly notice?: string },
): View {
  const { t } = reader
  const { minSeverity } = group
  const chosen = group.wallets.length > 1 ? group.wallets[0] : undefined
  const lines = [
    options.notice,
    t.html('bot:group.linked', { name: typed(group.title), wallet: walletList(t, group.wallets) }),
    group.topic && topicLine(reader, group.topic),
    group.managers.length === 0
      ? undefined
      : t.html('bot:group.managedBy', { names: namesOf(t, group.managers) }),
    chosen === undefined ? undefined : t.html('bot:home.title', { wallet: walletName(chosen) }),
    t.html(`bot:group.from.${minSeverity}`),
    ...watchSummaryLines(reader, watches, options.now),
  ]
  const rows = [
    [act(t(`bot:button.from.${minSeverity}`), packed('group.hear', { level: 'ask' }))],
    [
      act(t('bot:button.watches'), packed('watch.list', { page: 1 })),
      act(t('bot:button.mute'), packed('mute.list')),
    ],
    [act(t('bot:button.settings'), packed('group.settings'))],
  ]
  return screen(lines, options.buttons ? rows : [])
}

/**
 * Screen of a group whose alerts are off, because it removed the bot or did not let it write: alerts resume when a
 * manager confirms. The button is shown to all members, and works for managers.
 */
export function groupReturned(
  { t }: Reader,
  options: {
    /** Wallets with interrupted alerts. */
    readonly wallets: readonly string[]
    /** The group, as a recipient of one of these wallets. */
    readonly recipientId: number
    /** Whether the group kept the bot, and did not let it write. */
    readonly isSilenced: boolean
    readonly notice?: string
  },
): View {
  const { wallets, recipientId, isSilenced, notice } = options
  const settings = act(t('bot:button.settings'), packed('group.settings'))
  const why = isSilenced ? 'bot:group.silenced' : 'bot:group.off'
  return screen(
    [notice, `⚠️ ${t.html(why, { wallets: walletList(t, wallets) })}`],
    [
      [act(t('bot:button.alertsAgain'), packed('rec.revive', { id: recipientId }), 'primary')],
      [settings],
    ],
  )
}

/** Wallets by their short addresses, as many as fit into a line. */
function walletList(t: Translate, wallets: readonly string[]): string {
  const shown = wallets.slice(0, NAMES_MAX).map(walletName)
  return formatList(wallets.length > NAMES_MAX ? [...shown, '…'] : shown, t.locale)
}

const NAMES_MAX = 5

const NAME_MAX = 64

/** The first names of people who may press the buttons. */
function namesOf(t: Translate, names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).map((name) => cutText(name, NAME_MAX))
  return nameList(names.length > NAMES_MAX ? [...shown, '…'] : shown, t.locale)
}
