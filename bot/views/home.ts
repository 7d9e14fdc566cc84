import { packed } from '#src/actions/codec.ts'
import { cut } from '#src/channels/wording.ts'
import { formatDate, formatList } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { builtKey, type Translate, typed } from '#src/i18n/translate.ts'
import { LOCALE_NAMES, type Locale } from '#src/kernel/locale.ts'
import type { Watch } from '#src/watches/model.ts'
import { type TrialOffer, trialText } from '../features/connect/view.ts'
import { exampleStart } from '../features/example/view.ts'
import { type TopicPlace, topicLine } from '../features/topic/view.ts'
import type { SlotUse } from './slot-use.ts'
import { nearTime } from './time.ts'
import {
  act,
  type Button,
  deepLink,
  type Reader,
  type Rows,
  screen,
  type View,
  walletName,
} from './view.ts'
import { GLYPHS, WATCH_STATUSES, watchStatusOf, worstGlyph } from './watch-state.ts'

/** The button that leads to the languages, in the reader's own. */
function languageButton(locale: Locale): Button {
  return { label: `🌐 ${LOCALE_NAMES[locale]}`, data: packed('settings.lang') }
}

/**
 * What a private chat shows before it is linked.
 *
 * @param notice a line about why it is shown: HTML
 */
export function firstContact({ t }: Reader, notice?: string): View {
  const lines = [
    ...(notice === undefined ? [] : [notice, '']),
    t.html('bot:start.greeting'),
    '',
    t.html('bot:start.safety'),
  ]
  const connect = packed('connect', { spend: false })
  return screen(lines, [
    [{ label: t('bot:button.connect'), data: connect, style: 'primary' }],
    [exampleStart(t('bot:button.example'))],
    [languageButton(t.locale)],
  ])
}

/** What the wallet has, for the first lines of its home. */
export interface Funds {
  readonly balanceCredits: number
  readonly slots: SlotUse
}

/** The wallet a private chat's screens are about. */
interface HomeWallet {
  readonly address: string
  readonly funds: Funds
  readonly canWrite: boolean
  /** The chat is linked to others too. */
  readonly isOneOfSeveral: boolean
  /** Until when the chat hears nothing; in the past: it is not muted. */
  readonly mutedUntil: Date | null
  /** What is renewed next, and what that costs. */
  readonly renewal: { readonly at: Date; readonly credits: number } | undefined
  /** The free start, while the wallet has no slot and may have it. */
  readonly trial: TrialOffer | undefined
}

/** Everything at a glance, for a linked private chat. */
export function home(
  reader: Reader,
  wallet: HomeWallet,
  watches: readonly Watch[],
  options: {
    readonly now: Date
    readonly notice?: string
    /** What the notice leads to. */
    readonly rows?: Rows
  },
): View {
  const { t } = reader
  const { mutedUntil, canWrite } = wallet
  const { balanceCredits, slots } = wallet.funds
  const { now, notice, rows = [] } = options
  const lines = [
    notice,
    t.html('bot:home.title', { wallet: walletName(wallet.address) }),
    ...summary(reader, watches, now),
    mutedLine(reader, mutedUntil, now),
    ...(reader.isFree === true
      ? []
      : fundsLines(
          reader,
          `💳 ${t.html('units:credits', { count: balanceCredits })}`,
          slotsText(t, slots),
          wallet,
        )),
    wallet.trial && trialText(t, wallet.trial),
    canWrite ? undefined : t.html('bot:chat.receiveOnly'),
  ]
  const name = wallet.isOneOfSeveral ? walletName(wallet.address) : t('bot:button.wallets')
  const last = [act(name, packed('wallet.list')), languageButton(t.locale)]
  const own = canWrite ? managerRows(reader, watches.length > 0, last) : readerRows(t, last)
  return screen(lines, [...rows, ...trialRow(t, wallet.trial), ...own])
}

/** Whoever presses it has read the terms in the line above. */
function trialRow(t: Translate, trial: TrialOffer | undefined): Rows {
  if (trial === undefined) return []
  const data = packed('trial.start', { next: 'choose', terms: trial.mark })
  return [[act(t('bot:button.startTrial'), data)]]
}

/** That the chat hears nothing, and until when; undefined when it does. */
export function mutedLine(reader: Reader, until: Date | null, now: Date): string | undefined {
  if (until === null || until <= now) return undefined
  return `🔕 ${reader.t.html('bot:muted.chatUntil', { until: nearTime(reader, until, now) })}`
}

/** How many slots are used; watches that wait for one are counted where watches are. */
export function slotsText(t: Translate, { used, total }: SlotUse): string {
  return `🎟 ${t.html('bot:home.slots', { used, total })}`
}

/** Credits and slots; what the credits do not reach for is said beside them. */
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
    credits: t('units:credits', { count: renewal.credits }),
  })
  return [`${credits} · ${needs}`, slots]
}

function managerRows({ t, isFree }: Reader, watchesAny: boolean, last: readonly Button[]): Rows {
  const newWatch = act(t('bot:button.newWatch'), packed('new.start'), 'primary')
  const watches = act(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  const alerts = act(t('bot:button.alerts'), alertsData())
  const first = watchesAny
    ? [{ ...watches, style: 'primary' as const }, act(newWatch.label, packed('new.start')), alerts]
    : [newWatch, watches]
  const others = [
    act(t('bot:button.status'), packed('status')),
    ...(isFree === true
      ? []
      : [act(t('bot:button.topUp'), packed('topup')), act(t('bot:button.slots'), packed('slots'))]),
    act(t('bot:button.recipients'), packed('rec.list')),
    act(t('bot:button.settings'), packed('settings')),
    act(t('bot:button.mute'), packed('mute.list')),
    act(t('bot:button.help'), packed('help', { topic: undefined })),
    ...last,
  ]
  // One after the other, so that long labels take the least rows.
  return watchesAny ? [[...first, ...others]] : [first, others]
}

function readerRows(t: Translate, last: readonly Button[]): Rows {
  return [
    [
      act(t('bot:button.watches'), packed('watch.list', { page: 1 })),
      act(t('bot:button.alerts'), alertsData()),
      act(t('bot:button.status'), packed('status')),
    ],
    [
      act(t('bot:button.settings'), packed('settings')),
      act(t('bot:button.mute'), packed('mute.list')),
      act(t('bot:button.help'), packed('help', { topic: undefined })),
    ],
    last,
  ]
}

function alertsData(): string {
  const filter = { state: 'all', severity: 'all', time: '7d', watchId: undefined } as const
  return packed('alert.list', { filter, cursor: undefined })
}

/** The same for a linked group. Buttons are for those who may manage. */
export function groupHome(
  reader: Reader,
  group: {
    readonly title: string
    /** The one that screens are about is the first. */
    readonly wallets: readonly string[]
    /** Where alerts go; undefined in a group without topics. */
    readonly topic: TopicPlace | undefined
    /** First names of those who may press its buttons. */
    readonly managers: readonly string[]
  },
  watches: readonly Watch[],
  options: { readonly now: Date; readonly buttons: boolean; readonly notice?: string },
): View {
  const { t } = reader
  const chosen = group.wallets.length > 1 ? group.wallets[0] : undefined
  const lines = [
    options.notice,
    t.html('bot:group.linked', { name: typed(group.title), wallet: walletList(t, group.wallets) }),
    group.topic && topicLine(reader, group.topic),
    group.managers.length === 0
      ? undefined
      : t.html('bot:group.managedBy', { names: namesOf(t, group.managers) }),
    chosen === undefined ? undefined : t.html('bot:home.title', { wallet: walletName(chosen) }),
    ...summary(reader, watches, options.now),
  ]
  const rows = [
    [
      act(t('bot:button.watches'), packed('watch.list', { page: 1 })),
      act(t('bot:button.status'), packed('status')),
      act(t('bot:button.mute'), packed('mute.list')),
    ],
    [
      ...(group.topic !== undefined
        ? [act(t('bot:button.topic'), packed('group.topic', { choice: 'ask' }))]
        : []),
      ...(chosen === undefined ? [] : [act(walletName(chosen), packed('wallet.list'))]),
      languageButton(t.locale),
      act(t('bot:button.unlinkGroup'), packed('stop')),
    ],
  ]
  return screen(lines, options.buttons ? rows : [])
}

/**
 * What a group sees that threw the bot out and let it in again: alerts come when somebody of those who
 * may manage says so. The button is shown to everybody, and works for them.
 *
 * @param wallets whose alerts do not come
 * @param recipientId of the group, for one of them
 */
export function groupReturned(
  { t }: Reader,
  options: {
    readonly wallets: readonly string[]
    readonly recipientId: number
    readonly notice?: string
  },
): View {
  const { wallets, recipientId, notice } = options
  return screen(
    [notice, `⚠️ ${t.html('bot:group.off', { wallets: walletList(t, wallets) })}`],
    [
      [act(t('bot:button.alertsAgain'), packed('rec.revive', { id: recipientId }), 'primary')],
      [act(t('bot:button.unlinkGroup'), packed('stop'))],
    ],
  )
}

/** Wallets by their short addresses, as many as a line has room for. */
function walletList(t: Translate, wallets: readonly string[]): string {
  const shown = wallets.slice(0, NAMES_MAX).map(walletName)
  return formatList(wallets.length > NAMES_MAX ? [...shown, '…'] : shown, t.locale)
}

const NAMES_MAX = 5
const NAME_MAX = 64

/** Names that people gave themselves, each with a direction of its own. */
function namesOf(t: Translate, names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).map((name) => isolate(cut(name, NAME_MAX)))
  return formatList(names.length > NAMES_MAX ? [...shown, '…'] : shown, t.locale)
}

/** What a group sees that is not linked. */
export function groupHello(reader: Reader, title: string): View {
  const { t } = reader
  return screen(
    [`👋 ${t.html('bot:group.hello', { name: typed(title) })}`, t.html('bot:group.howToLink')],
    [[{ label: t('bot:button.setUp'), url: deepLink(reader, 'group'), style: 'primary' }]],
  )
}

/** One line for each way watches stand. */
export function summary({ t }: Reader, watches: readonly Watch[], now: Date): readonly string[] {
  if (watches.length === 0) return [t.html('bot:home.empty')]
  const counts = Map.groupBy(watches, (watch) => watchStatusOf(watch, now))
  if (counts.get('fine')?.length === watches.length) {
    return [`${GLYPHS.fine} ${t.html('bot:home.quiet', { count: watches.length })}`]
  }
  return WATCH_STATUSES.flatMap((status) => {
    const count = counts.get(status)?.length ?? 0
    if (count === 0) return []
    const glyph = status === 'firing' ? worstGlyph(counts.get(status)) : GLYPHS[status]
    return [`${glyph} ${t.html(builtKey(`bot:count.${status}`), { count })}`]
  })
}
