import { builtKey, type Translate, typed } from '#src/i18n/translate.ts'
import { LOCALE_NAMES, type Locale } from '#src/kernel/locale.ts'
import type { Watch } from '#src/watches/model.ts'
import { packed } from '../callback-data.ts'
import { exampleStart } from './example.ts'
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
import { GLYPHS, STANDINGS, standingOf } from './watch-state.ts'

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
  readonly slotsUsed: number
  readonly slotsTotal: number
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
  const { balanceCredits, slotsUsed, slotsTotal } = wallet.funds
  const { now, notice, rows = [] } = options
  const lines = [
    notice,
    t.html('bot:home.title', { wallet: walletName(wallet.address) }),
    ...summary(reader, watches, now),
    mutedUntil !== null && mutedUntil > now
      ? `🔕 ${t.html('bot:muted.chatUntil', { until: nearTime(reader, mutedUntil, now) })}`
      : undefined,
    [
      `💳 ${t.html('units:credits', { count: balanceCredits })}`,
      `🎟 ${t.html('bot:home.slots', { used: slotsUsed, total: slotsTotal })}`,
    ].join(' · '),
    canWrite ? undefined : t.html('bot:chat.receiveOnly'),
  ]
  const name = wallet.isOneOfSeveral ? walletName(wallet.address) : t('bot:button.wallets')
  // With rows of the notice there is no room for the language, which the settings have too.
  const last = [
    act(name, packed('wallet.list')),
    ...(rows.length === 0 ? [languageButton(t.locale)] : []),
  ]
  const own = canWrite ? managerRows(t, watches.length > 0, last) : readerRows(t, last)
  return screen(lines, [...rows, ...own])
}

function managerRows(t: Translate, watchesAny: boolean, last: readonly Button[]): Rows {
  const newWatch = act(t('bot:button.newWatch'), packed('new.start'), 'primary')
  const watches = act(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  const alerts = act(t('bot:button.alerts'), alertsData())
  return [
    watchesAny
      ? [{ ...watches, style: 'primary' }, act(newWatch.label, packed('new.start')), alerts]
      : [newWatch, watches],
    [
      act(t('bot:button.status'), packed('status')),
      act(t('bot:button.topUp'), packed('topup')),
      act(t('bot:button.slots'), packed('slots')),
    ],
    [
      act(t('bot:button.recipients'), packed('rec.list')),
      act(t('bot:button.settings'), packed('settings')),
      act(t('bot:button.mute'), packed('mute.list')),
    ],
    [act(t('bot:button.help'), packed('help', { topic: undefined })), ...last],
  ]
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
    readonly wallets: readonly string[]
    readonly isForum: boolean
  },
  watches: readonly Watch[],
  options: { readonly now: Date; readonly buttons: boolean; readonly notice?: string },
): View {
  const { t } = reader
  const lines = [
    options.notice,
    ...group.wallets.map((wallet) =>
      t.html('bot:group.linked', { name: typed(group.title), wallet: walletName(wallet) }),
    ),
    ...summary(reader, watches, options.now),
  ]
  const rows = [
    [
      act(t('bot:button.watches'), packed('watch.list', { page: 1 })),
      act(t('bot:button.status'), packed('status')),
      act(t('bot:button.mute'), packed('mute.list')),
    ],
    [
      ...(group.isForum
        ? [act(t('bot:button.topic'), packed('group.topic', { choice: 'ask' }))]
        : []),
      languageButton(t.locale),
      act(t('bot:button.unlinkGroup'), packed('stop')),
    ],
  ]
  return screen(lines, options.buttons ? rows : [])
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
  const counts = Map.groupBy(watches, (watch) => standingOf(watch, now))
  if (counts.get('fine')?.length === watches.length) {
    return [`${GLYPHS.fine} ${t.html('bot:home.quiet', { count: watches.length })}`]
  }
  return STANDINGS.flatMap((standing) => {
    const count = counts.get(standing)?.length ?? 0
    if (count === 0) return []
    return [`${GLYPHS[standing]} ${t.html(builtKey(`bot:count.${standing}`), { count })}`]
  })
}
