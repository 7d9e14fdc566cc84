/** What the alerts in one message have in common, as the message's heading. Pure. */

import { formatDuration, formatTimeOn } from '#src/i18n/format.ts'
import { id, type TextValue, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { movedHeading, movement } from '../card/transfer.ts'
import { shownLabel } from '../card/wording.ts'
import type { Cause, Envelope } from '../envelope.ts'
import { ALL_DUTIES, DUTIES, isFailedDuty, PROTOCOLS } from './duties.ts'

/** Reasons with which a vote is valid for some of its feeds. */
const PARTLY_VALID: readonly unknown[] = ['values-missing', 'too-many-values']

type Part = Pick<Envelope, 'data' | 'message' | 'hasOthers'>

/** The common cause of the alerts in one message; undefined if there is none. */
export function causeOf(parts: readonly Part[]): Cause | undefined {
  return causeOfFailedDuties(parts) ?? health(parts) ?? movement(parts)
}

/**
 * Failed duties: all of them (`silent`, if every vote is missing), or all of one protocol. Alerts about anything
 * else, such as fast updates, change nothing.
 */
export function causeOfFailedDuties(parts: readonly Part[]): Cause | undefined {
  const failed = parts.filter(({ message }) => isFailedDuty(message.event))
  const events = new Set(failed.map(({ message }) => message.event))
  if (events.size === ALL_DUTIES.length) {
    const isMissing = failed.every(({ data }) => data['reason'] === 'missing')
    return isMissing ? { kind: 'silent', rounds: roundsOf(failed) } : undefined
  }
  if (failed.some(({ data }) => PARTLY_VALID.includes(data['reason']))) return undefined
  const protocol = PROTOCOLS.find((name) => {
    return events.size === DUTIES[name].length && DUTIES[name].every((event) => events.has(event))
  })
  return protocol && { kind: protocol, rounds: roundsOf(failed) }
}

/** Number of rounds in which all of the duties failed: the smallest, by the last alert about each. */
function roundsOf(failed: readonly Part[]): number {
  const last = new Map(failed.map(({ data, message }) => [message.event, data['streak']]))
  const rounds = [...last.values()].flatMap(numberOf)
  return rounds.length === 0 ? 0 : Math.min(...rounds)
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
  const rounds = parts.flatMap(({ data }) => numberOf(data['missedRounds']))
  return { kind: 'healthy', ...(rounds.length > 0 && { rounds: Math.max(...rounds) }) }
}

function numberOf(value: unknown): readonly number[] {
  return typeof value === 'number' ? [value] : []
}

/** When the alerts of a message began and ended, for its heading. */
export interface Times {
  /** Start of what the heading says. */
  readonly from: Date
  /** End of the outage; undefined until all alerts have recovered. */
  readonly to: Date | undefined
  /** The time at which the message is read; other days are dated. */
  readonly shownAt: Date
}

/**
 * Heading that states what a watch's alerts have in common; undefined if there is nothing.
 *
 * @param of `rounds`: number of voting rounds that the recoveries of a failure state
 */
export function causeHeading(
  { cause, locale, timezone }: Pick<Envelope, 'cause' | 'locale' | 'timezone'>,
  of: Times & {
    readonly watch: string
    readonly isOver: boolean
    readonly rounds: number | undefined
  },
): string | undefined {
  const { from, to, shownAt, isOver } = of
  const t = translator(locale)
  const watch = typed(shownLabel(of.watch))
  const seconds = to && (to.getTime() - from.getTime()) / 1000
  switch (cause?.kind) {
    case 'moved':
      return movedHeading(t, cause, watch)
    case 'silent':
    case 'ftso':
    case 'fdc': {
      if (isOver) {
        // Other duties of the provider may still fail.
        return cause.kind === 'silent' ? healthyHeading(t, watch, seconds, of.rounds) : undefined
      }
      const time = formatTimeOn(from, locale, timezone, { shownAt })
      return t(`messages:group.${cause.kind}`, { watch, time, count: cause.rounds ?? 0 })
    }
    case 'healthy':
      return healthyHeading(t, watch, seconds, cause.rounds)
    default:
      return undefined
  }
}

function healthyHeading(
  t: Translate,
  watch: TextValue,
  seconds: number | undefined,
  rounds: number | undefined,
): string {
  if (seconds === undefined) return t('messages:group.healthy', { watch })
  const duration = id(formatDuration(seconds, t.locale, 'short'))
  return rounds === undefined
    ? t('messages:group.healthyAfter', { watch, duration })
    : t('messages:group.healthyRounds', { watch, duration, count: rounds })
}
