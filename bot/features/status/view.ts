import { packed } from '#src/actions/codec.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { id, typed } from '#src/i18n/translate.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import type { Watch } from '#src/watches/model.ts'
import type { TipState } from '#src/watches/observe/tip.ts'
import { destinationName, isOn, statusText } from '../../views/destination.ts'
import { textHtml } from '../../views/markup.ts'
import { clockTime } from '../../views/time.ts'
import {
  act,
  back,
  labelWithName,
  type Reader,
  screen,
  type View,
  walletName,
} from '../../views/view.ts'
import type { Funds } from '../../views/wallet.ts'
import { mutedLine, slotsText, watchSummaryLines } from '../../views/wallet-lines.ts'
import { sortWatches, watchStatusOf } from '../../views/watch-state.ts'
import { watchLine } from '../watches/list-view.ts'

/** Overview of a wallet. */
export interface Overview {
  readonly wallet: string
  readonly watches: readonly Watch[]
  /** Credits and slots; undefined where they are private. */
  readonly funds: Funds | undefined
  /** All destinations of the wallet; empty where they are private. */
  readonly destinations: readonly Destination[]
  /** The recipient that is this chat. */
  readonly hereId: number
  /** End of this chat's mute; if it is in the past, the chat is not muted. */
  readonly mutedUntil: Date | null
  readonly tip: TipState
}

const WATCHES_MAX = 20
const OFF_MAX = 5
/** Maximum number of failing watches with a button. */
const OPENED_MAX = 2

/** All watches, the most severe first, and the possible causes of missing alerts. */
export function statusScreen(
  reader: Reader,
  overview: Overview,
  options: {
    readonly now: Date
    readonly buttons: boolean
    readonly isPinned: boolean
    /** Line above the overview: HTML. */
    readonly notice?: string | undefined
  },
): View {
  const { t } = reader
  const { watches, funds, tip } = overview
  const { now, buttons, isPinned } = options
  const shown = sortWatches(watches, now).slice(0, WATCHES_MAX)
  const hidden = watches.length - shown.length
  const off = overview.destinations.filter((destination) => !isOn(destination)).slice(0, OFF_MAX)
  const lines = [
    options.notice,
    ...watchSummaryLines(reader, watches, now),
    mutedLine(reader, overview.mutedUntil, now),
    headLine(reader, overview),
    funds && reader.isBillingOff !== true
      ? [`💳 ${textHtml(creditsWithUsd(t, funds.balanceCredits))}`, slotsText(t, funds.slots)].join(
          ' · ',
        )
      : undefined,
    ...(shown.length === 0 ? [] : ['']),
    ...shown.map((watch) => watchLine(reader, watch, now)),
    hidden === 0 ? undefined : t.html('bot:watches.more', { count: hidden }),
    ...(off.length === 0 ? [] : ['']),
    ...off.map((destination) => {
      const name = destinationName(t, destination, overview.hereId)
      const reason = statusText(t, destination)
      return `📪 ${t.html('bot:overview.off', { name: typed(name), reason })}`
    }),
    ...tipLines(reader, tip, now),
  ]
  const noticeable = shown
    .filter((watch) => NOTICEABLE_STATUSES.has(watchStatusOf(watch, now)))
    .slice(0, OPENED_MAX)
  const pin = packed('status.pin', { on: !isPinned })
  const rows = [
    watches.length === 0 ? [act(t('bot:button.newWatch'), packed('new.start'), 'primary')] : [],
    [act(`📌 ${t(isPinned ? 'bot:button.unpin' : 'bot:button.pin')}`, pin)],
    ...noticeable.map(({ id: watchId, label }) => [
      act(
        labelWithName(label, (name) => name),
        packed('watch.card', { id: watchId }),
      ),
    ]),
    [back(t('bot:button.watches'), packed('watch.list', { page: 1 }))],
  ]
  return screen(lines, buttons ? rows : [])
}

/** States that need attention. */
const NOTICEABLE_STATUSES: ReadonlySet<string> = new Set(['firing', 'noData', 'suspended'])

function headLine(reader: Reader, { wallet, watches }: Overview): string {
  const { t } = reader
  const checked = watches.flatMap(({ lastEvaluatedAt }) => lastEvaluatedAt?.getTime() ?? [])
  const values = { wallet: walletName(wallet) }
  if (checked.length === 0) return t.html('bot:overview.unchecked', values)
  const time = clockTime(reader, new Date(Math.max(...checked)), { seconds: true })
  return t.html('bot:overview.title', { ...values, time })
}

/** Lines about the age of the chain's data. */
function tipLines(reader: Reader, { block, failingSince }: TipState, now: Date): readonly string[] {
  const { t } = reader
  if (block === null) return []
  const seconds = Math.max(0, (now.getTime() - block.at.getTime()) / 1000)
  const line = t.html('bot:overview.chain', {
    block: id(block.number),
    duration: formatDuration(seconds, t.locale, 'short'),
  })
  const isOffline = failingSince !== null && now.getTime() - failingSince.getTime() >= OFFLINE_MS
  if (!isOffline) return ['', line]
  return [
    '',
    line,
    `⚪ ${t.html('bot:overview.offline', { time: clockTime(reader, failingSince) })}`,
  ]
}

/** Minimum length of an interruption that is shown. */
const OFFLINE_MS = 90_000

/** Key of an overview, which changes when the message needs an update. */
export function overviewKey(
  { watches, destinations, tip, mutedUntil }: Overview,
  now: Date,
): string {
  const states = watches.map((watch) => [watch.id, watch.label, watchStatusOf(watch, now)])
  const off = destinations
    .filter((destination) => !isOn(destination))
    .map(({ id: destinationId, status }) => [destinationId, status])
  const { failingSince } = tip
  const isOffline = failingSince !== null && now.getTime() - failingSince.getTime() >= OFFLINE_MS
  const muted = mutedUntil !== null && mutedUntil > now ? mutedUntil : null
  return JSON.stringify([states, off, isOffline, muted])
}
