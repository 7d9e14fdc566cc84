/** Causes that several alerts of a watch have in common, as the heading of their message. Pure. */
import { formatDuration, formatTime } from '#src/i18n/format.ts'
import { id, translator, typed } from '#src/i18n/translate.ts'
import type { Cause, Envelope, RecoverySummary } from './envelope.ts'
import { shownLabel } from './wording.ts'

/** Events of duties that a provider missed in a voting round. */
const DUTIES: ReadonlySet<string> = new Set([
  'fsp.ftso-commit',
  'fsp.ftso-reveal',
  'fsp.ftso-signature',
  'fsp.fdc-bitvote',
  'fsp.fdc-signature',
])

/** Whether an event says that a provider failed a duty of a voting round. */
export function isFailedDuty(event: string): boolean {
  return DUTIES.has(event)
}

/** Whether the end of an alert proves that a provider sends something again. */
export function endsSilence(event: string): boolean {
  return isFailedDuty(event) || event === 'fsp.fast-updates'
}

type Part = Pick<Envelope, 'data' | 'message' | 'hasOthers'>

/** The common cause of the alerts in one message; undefined if there is none. */
export function causeOf(parts: readonly Part[]): Cause | undefined {
  return silence(parts) ?? health(parts)
}

/** Silence: every duty was missed. Alerts about anything else, such as fast updates, do not contradict it. */
function silence(parts: readonly Part[]): Cause | undefined {
  const failed = parts.filter(({ message }) => isFailedDuty(message.event))
  const missed = failed.filter(({ data }) => data['reason'] === 'missing')
  const events = new Set(missed.map(({ message }) => message.event))
  if (missed.length !== failed.length || events.size !== DUTIES.size) return undefined
  const [since] = missed.flatMap(({ data }) => textOf(data['since'])).sort()
  const rounds = Math.max(0, ...missed.flatMap(({ data }) => numberOf(data['streak'])))
  return since === undefined ? undefined : { kind: 'silent', since, rounds }
}

function health(parts: readonly Part[]): Cause | undefined {
  if (parts.length < 2 || parts.some(({ message }) => !message.isRecovery)) return undefined
  // Alerts that were active at an earlier recovery may have recovered since.
  const lastAt = parts
    .map(({ message }) => message.firedAt)
    .sort()
    .at(-1)
  const last = parts.filter(({ message }) => message.firedAt === lastAt)
  if (last.some(({ hasOthers }) => hasOthers === true)) return undefined
  const outages = parts
    .flatMap(({ data }) => {
      return numberOf(data['gapSeconds']).map((seconds) => ({ seconds, data }))
    })
    .toSorted((a, b) => b.seconds - a.seconds)
  const [longest] = outages
  const rounds = parts.flatMap(({ data }) => numberOf(data['missedRounds']))
  return {
    kind: 'healthy',
    ...(longest && { ...startOf(longest), seconds: longest.seconds }),
    ...(rounds.length > 0 && { rounds: Math.max(...rounds) }),
  }
}

/**
 * Start of the outage that a recovery ends. An outage of voting rounds ended with the start of the
 * recovery's round; the data of any other recovery contains the start.
 */
function startOf({ data, seconds }: { readonly data: Envelope['data']; readonly seconds: number }) {
  const [end] = textOf(data['roundStart'])
  if (end !== undefined) {
    return { since: new Date(Date.parse(end) - seconds * 1000).toISOString() }
  }
  const [since] = textOf(data['since'])
  return since === undefined ? {} : { since }
}

/** Start and end of the outage that a heading describes; undefined unless it is over and its length is known. */
export function outageOf(
  cause: Cause | undefined,
  loss: Pick<RecoverySummary, 'seconds'>,
): { readonly from: Date; readonly to: Date } | undefined {
  const seconds = cause?.kind === 'silent' ? loss.seconds : cause?.seconds
  if (cause?.since === undefined || seconds === undefined) return undefined
  const from = new Date(cause.since)
  return { from, to: new Date(from.getTime() + seconds * 1000) }
}

/**
 * Start and end of an outage for the line below the heading. They differ from the alerts' times, which
 * fired and recovered later.
 */
export function outageSpan(
  cause: Cause | undefined,
  loss: Pick<RecoverySummary, 'seconds'>,
  recoveredAt: Date,
): {
  readonly start: { readonly startedAt?: string }
  readonly end: { readonly recoveredAt: Date }
} {
  const outage = outageOf(cause, loss)
  if (outage === undefined) return { start: {}, end: { recoveredAt } }
  return { start: { startedAt: outage.from.toISOString() }, end: { recoveredAt: outage.to } }
}

function textOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : []
}

function numberOf(value: unknown): readonly number[] {
  return typeof value === 'number' ? [value] : []
}

/**
 * Heading that states the common cause of a watch's alerts; undefined if there is none.
 *
 * @param of `since`: first alert, RFC 3339; `recoveredAt`: last recovery, if all have recovered; `loss`:
 * length and rounds that the recoveries of a silence state
 */
export function causeHeading(
  { cause, locale, timezone }: Pick<Envelope, 'cause' | 'locale' | 'timezone'>,
  of: {
    readonly watch: string
    readonly since: string
    readonly recoveredAt: Date | undefined
    readonly isOver: boolean
    readonly loss: Pick<RecoverySummary, 'seconds' | 'rounds'>
  },
): string | undefined {
  if (cause === undefined) return undefined
  const { since, recoveredAt, isOver } = of
  const t = translator(locale)
  const watch = typed(shownLabel(of.watch))
  if (cause.kind === 'silent' && !isOver) {
    const time = formatTime(new Date(cause.since ?? since), locale, timezone)
    return t('messages:group.silent', { watch, time, count: cause.rounds ?? 0 })
  }
  // The duration of the alerts is not used, because they fired after the outage began.
  const { rounds, seconds } =
    cause.kind === 'silent' ? of.loss : { seconds: secondsBetween(since, recoveredAt), ...cause }
  if (seconds === undefined) return t('messages:group.healthy', { watch })
  const duration = id(formatDuration(seconds, locale, 'short'))
  return rounds === undefined
    ? t('messages:group.healthyAfter', { watch, duration })
    : t('messages:group.healthyRounds', { watch, duration, count: rounds })
}

function secondsBetween(since: string, until: Date | undefined): number | undefined {
  return until && Math.round((until.getTime() - new Date(since).getTime()) / 1000)
}
