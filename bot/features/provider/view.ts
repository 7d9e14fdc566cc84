import { packed } from '#src/actions/codec.ts'
import { formatAmounts } from '#src/i18n/amounts.ts'
import { formatChance } from '#src/i18n/chance.ts'
import { formatDuration, formatPercent } from '#src/i18n/format.ts'
import { checkedKey, id, type Translate, typed } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { HOUR_SECONDS } from '#src/kernel/durations.ts'
import type { PictureRounds } from '#src/pictures/provider-picture.ts'
import { roundsGlyph, roundsText } from '#src/pictures/rounds-text.ts'
import { hoursToRegistration } from '#src/pictures/words.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { CAPTION_MAX } from '#src/telegram/limits.ts'
import type { NamedProvider } from '#src/watches/provider-names.ts'
import {
  DUTIES,
  type Duty,
  type DutyResult,
  dutyResultOf,
  isBadResult,
} from '#src/watches/provider-rounds.ts'
import { isSilentByFastUpdates, type ProviderView } from '#src/watches/provider-view.ts'
import { LOW_LIMITS_WEI, lowBalanceSeverity } from '#src/watches/types/provider-fsp/balances.ts'
import { followButton } from '../../views/follow-button.ts'
import { preHtml, textHtml } from '../../views/markup.ts'
import { clockTime } from '../../views/time.ts'
import {
  act,
  inRows,
  labelWithName,
  menuButton,
  type Reader,
  screen,
  type View,
  wholeAddress,
} from '../../views/view.ts'

/** A provider with the chat's own data. */
export interface ShownProvider {
  readonly view: ProviderView
  /** Public name, or the label of the chat's watch. */
  readonly name: string | undefined
  /** Watch of the chat's wallet on all its rounds. */
  readonly watchId: number | undefined
}

/** Rights of the chat. */
interface Options {
  readonly now: Date
  readonly buttons: boolean
  readonly canShare: boolean
}

/** Protocol names, as in the picture; they are the same in every language. */
const NAMES: Readonly<Record<Duty, string>> = {
  commit: 'commit',
  reveal: 'reveal',
  signature: 'sign',
  bitvote: 'bitvote',
  fdcSignature: 'fdcsign',
}

/** Text marks of a duty, each of another shape, as in the picture. */
const MARKS: Readonly<Record<DutyResult, string>> = {
  ok: '✓',
  late: '▸',
  early: '◂',
  missing: '✕',
  mismatch: '≠',
  offence: '!',
  unknown: '○',
}

/** Rounds that a chat shows, as many as fit the width of a phone; more are on the provider's page. */
export const SHOWN_ROUNDS = 20 satisfies PictureRounds
/** Marks of low balances. */
const LOW_MARKS = { warning: '🟠', critical: '🔴' } as const
/** Caption of the picture: state of the provider, in the reader's language. */
export function providerCaption(reader: Reader, shown: ShownProvider, options: Options): View {
  const [head = '', ...rest] = linesOf(reader, shown, options)
  const lines = [head]
  for (const line of rest) {
    if (visibleLength([...lines, line]) <= CAPTION_MAX) lines.push(line)
  }
  return screen(lines, rowsOf(reader, shown, options))
}

/** Screen without a picture: the state below a text grid. */
export function providerWithoutPicture(
  reader: Reader,
  shown: ShownProvider,
  options: Options,
): View {
  const [head, ...rest] = linesOf(reader, shown, options)
  const rounds = shown.view.rounds.slice(0, SHOWN_ROUNDS)
  const named = DUTIES.map((duty) => [duty, NAMES[duty]] as const)
  const grid = rounds.length === 0 ? undefined : textGrid(rounds, named)
  return screen([head, grid, ...rest], rowsOf(reader, shown, options))
}

function visibleLength(lines: readonly string[]): number {
  return lines.join('\n').replaceAll(/<[^>]*>/g, '').length
}

function linesOf(reader: Reader, shown: ShownProvider, { now }: Options): string[] {
  const { t } = reader
  const { view, name } = shown
  const address = wholeAddress(view.provider)
  return [
    name === undefined ? address.html : t.html('bot:provider.head', { name: typed(name), address }),
    ...badLines(reader, view),
    validatorsLine(reader, view),
    roundsLine(reader, shown),
    epochLine(reader, view),
    nextLine(reader, view),
    fastLine(reader, view),
    conditionsLine(reader, view),
    balancesLine(reader, view),
    ageLine(reader, view, now),
  ].filter((line) => line !== undefined)
}

/** A failed duty, in words. */
interface Wrong {
  readonly duty: string
  readonly state: string
  /** Whether the duty was fulfilled early or late, as opposed to missing or invalid. */
  readonly isMild: boolean
  readonly since: Date
  /** Number of consecutive rounds with the failure. */
  readonly count: number
}

/** Failures of the last round, with their streaks. */
export function wrongIn(t: Translate, { rounds }: ProviderView): readonly Wrong[] {
  const [last] = rounds
  if (last === undefined) return []
  return DUTIES.flatMap((duty) => {
    const cell = dutyResultOf(last, duty)
    if (!isBadResult(cell)) return []
    const good = rounds.findIndex((round) => !isBadResult(dutyResultOf(round, duty)))
    const count = good === -1 ? rounds.length : good
    return [
      {
        duty: t(checkedKey(`pages:alert.duty.${duty}`)),
        state: stateText(t, cell),
        isMild: cell === 'late' || cell === 'early',
        since: rounds[count - 1]?.startsAt ?? last.startsAt,
        count,
      },
    ]
  })
}

/** A failure as titles of alerts word it. */
function stateText(t: Translate, cell: DutyResult): string {
  const isReason = cell === 'missing' || cell === 'late' || cell === 'early'
  return t(checkedKey(isReason ? `messages:reason.${cell}` : `bot:provider.state.${cell}`))
}

function badLines(reader: Reader, view: ProviderView): readonly string[] {
  return wrongIn(reader.t, view).map(({ duty, state, isMild, since, count }) => {
    const time = clockTime(reader, since)
    return `${isMild ? '🟠' : '🔴'} ${reader.t.html('bot:provider.bad', { duty, state, time, count })}`
  })
}

function roundsLine({ t }: Reader, { view }: ShownProvider): string {
  return `${roundsGlyph(view, SHOWN_ROUNDS)} ${textHtml(roundsText(t, view, SHOWN_ROUNDS))}`
}

function epochLine({ t }: Reader, view: ProviderView): string | undefined {
  const { rewardEpoch, registered, inPolicy, weight } = view
  if (rewardEpoch === null) return undefined
  const epoch = id(rewardEpoch)
  if (inPolicy && weight !== null) {
    return t.html('bot:provider.epoch.member', { epoch, weight: formatPercent(weight, t.locale) })
  }
  if (registered === null || inPolicy === null) return undefined
  return `🔴 ${t.html(`bot:provider.epoch.${registered ? 'registered' : 'absent'}`, { epoch })}`
}

function nextLine({ t }: Reader, view: ProviderView): string | undefined {
  const { rewardEpoch, registeredNext } = view
  if (rewardEpoch === null) return undefined
  const epoch = id(rewardEpoch + 1)
  if (registeredNext !== null) {
    return t.html(`bot:provider.next.${registeredNext ? 'registered' : 'open'}`, { epoch })
  }
  const hours = hoursToRegistration(view)
  if (hours === undefined) return undefined
  const duration = formatDuration(hours * HOUR_SECONDS, t.locale, 'long')
  return t.html('bot:provider.next.soon', { epoch, duration })
}

function fastLine({ t }: Reader, { fastUpdates }: ProviderView): string | undefined {
  if (fastUpdates === null) return undefined
  const { blocksSinceUpdate: count } = fastUpdates
  if (!isSilentByFastUpdates(fastUpdates)) return t.html('bot:provider.fast', { count })
  const chance = formatChance(fastUpdates.probabilityOfSilence, t.locale)
  return `🔴 ${t.html('bot:provider.silent', { count, chance })}`
}

function conditionsLine({ t }: Reader, { minimalConditions }: ProviderView): string | undefined {
  const list = Object.entries(minimalConditions).flatMap(([name, condition]) => {
    if (condition === null) return []
    const rate = formatPercent(condition.rate, t.locale)
    return [t(checkedKey(`bot:provider.condition.${name}`), { rate })]
  })
  return list.length === 0
    ? undefined
    : t.html('bot:provider.conditions', { list: list.join(' · ') })
}

/** Line about validators that the P-chain does not list. */
function validatorsLine({ t }: Reader, { validators }: ProviderView): string | undefined {
  const gone = (validators ?? []).filter(({ listed }) => !listed)
  const [first] = gone
  if (first === undefined) return undefined
  return `🔴 ${t.html('bot:provider.notListed', { count: gone.length, node: id(first.nodeId) })}`
}

function balancesLine({ t }: Reader, { balances }: ProviderView): string | undefined {
  const coin = { decimals: 18, symbol: servedChain().symbol }
  const list = balances.map(({ role, balanceWei }) => {
    const shown = [balanceWei, ...LOW_LIMITS_WEI].map((units) => ({ units, ...coin }))
    const [amount = ''] = formatAmounts(shown, t.locale)
    const text = t(checkedKey(`bot:provider.balance.${role}`), { amount })
    const severity = lowBalanceSeverity(balanceWei)
    return severity === undefined ? text : `${LOW_MARKS[severity]} ${text}`
  })
  return list.length === 0 ? undefined : t.html('bot:provider.balances', { list: list.join(' · ') })
}

function ageLine(reader: Reader, { asOf, stale }: ProviderView, now: Date): string | undefined {
  if (asOf === null) return undefined
  const { t } = reader
  const time = clockTime(reader, asOf, { seconds: true })
  if (!stale) return t.html('bot:provider.asOf', { time })
  const seconds = Math.max(0, (now.getTime() - asOf.getTime()) / 1000)
  const duration = formatDuration(seconds, t.locale, 'long')
  return `⚪ ${t.html('bot:watch.stale', { time, duration })}`
}

/** Rounds as marks, a line for each named duty, the newest at the right in every language: HTML. */
export function textGrid(
  rounds: ProviderView['rounds'],
  duties: readonly (readonly [Duty, string])[],
): string {
  const width = Math.max(...duties.map(([, name]) => [...name].length))
  const oldestFirst = rounds.toReversed()
  const lines = duties.map(([duty, name]) => {
    const marks = oldestFirst.map((round) => MARKS[dutyResultOf(round, duty)]).join('')
    return `${name.padEnd(width)} ${marks}`
  })
  return preHtml(lines.join('\n'))
}

function rowsOf({ t, isGroup }: Reader, shown: ShownProvider, options: Options): Rows {
  if (!options.buttons) return []
  const { view, watchId } = shown
  const address = view.provider
  const watch =
    watchId === undefined
      ? act(
          t(isGroup ? 'bot:button.watchProvider' : 'bot:button.watchMore'),
          packed('new.type', { type: 'provider-fsp', address }),
          'primary',
        )
      : act(t('bot:button.openWatch'), packed('watch.card', { id: watchId }), 'primary')
  const follow = isGroup || watchId !== undefined ? [] : [followButton(t, address)]
  const share: Button = { label: `${t('bot:button.share')} ↪️`, share: `p ${address}` }
  return [
    [...follow, watch],
    [menuButton(t), ...(options.canShare ? [share] : [])],
  ]
}

const CHOICES_IN_ROW = 2

/** Asks for a provider, with suggestions. */
export function providerQuestion({ t }: Reader, known: readonly NamedProvider[]): View {
  return screen([t.html('bot:provider.ask')], [...providerButtons(known), [menuButton(t)]])
}

/** A button for each of some providers. */
export function providerButtons(known: readonly NamedProvider[]): Rows {
  const buttons = known.map(({ provider, name }) =>
    act(
      labelWithName(name, (label) => label),
      packed('status.provider', { address: provider }),
    ),
  )
  return inRows(buttons, CHOICES_IN_ROW)
}
