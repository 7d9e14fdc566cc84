/** What the alerts in one message have in common, as the message's heading. Pure. */

import { formatAbout, formatDisplayValue, formatDuration, formatTimeOn } from '#src/i18n/format.ts'
import {
  checkedKey,
  id,
  type TextValue,
  type Translate,
  translator,
  typed,
} from '#src/i18n/translate.ts'
import {
  type Estimate,
  isNetworkWide,
  lostRewards,
  outageFacts,
  outageFiguresOf,
} from '#src/kernel/outage-figures.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { movedHeading, movement } from '../card/transfer.ts'
import { shownLabel } from '../card/wording.ts'
import type { Cause, Envelope, MessageField } from '../envelope.ts'
import { ALL_DUTIES, DUTIES, failedEventOf, isFailedDuty, PROTOCOLS } from './duties.ts'

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
    return isMissing ? failureOf('silent', failed) : undefined
  }
  if (failed.some(({ data }) => PARTLY_VALID.includes(data['reason']))) return undefined
  const protocol = PROTOCOLS.find((name) => {
    return events.size === DUTIES[name].length && DUTIES[name].every((event) => events.has(event))
  })
  return protocol && failureOf(protocol, failed)
}

/**
 * The failure of several duties, by the last alert about each. All of them failed in the smallest of their numbers of
 * rounds; the cost is that of these rounds. Of the others as many failed all of them, at most, as failed the one that
 * fewest failed; nothing is said of them while it is not known for one of the duties.
 */
function failureOf(kind: 'silent' | 'ftso' | 'fdc', failed: readonly Part[]): Cause {
  const last = [...new Map(failed.map(({ data, message }) => [message.event, data])).values()]
  const rounds = last.flatMap(({ streak }) => numberOf(streak))
  const least = last.find(({ streak }) => streak === Math.min(...rounds))
  const others = last.flatMap((data) => outageFiguresOf(data).others ?? [])
  const [fewest] = others.toSorted((a, b) => a.failed * b.total - b.failed * a.total)
  const cost = JsonObject.safeParse(least?.['cost'])
  return {
    kind,
    rounds: rounds.length === 0 ? 0 : Math.min(...rounds),
    ...(fewest !== undefined && others.length === last.length && { others: fewest }),
    ...(cost.success && { cost: cost.data }),
  }
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
  const lost = rounds.length === 0 ? undefined : Math.max(...rounds)
  const cost = JsonObject.safeParse(costOfAll(parts, lost))
  return {
    kind: 'healthy',
    ...(lost !== undefined && { rounds: lost }),
    ...(cost.success && { cost: cost.data }),
  }
}

/** The cost of the recovery that states so many rounds, if every vote had failed: one duty earns only a part of it. */
function costOfAll(parts: readonly Part[], rounds: number | undefined): unknown {
  const ended = new Set(parts.map(({ message }) => failedEventOf(message.event)))
  if (!ALL_DUTIES.every((event) => ended.has(event))) return undefined
  return parts.find(({ data }) => data['missedRounds'] === rounds)?.data['cost']
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
    /** About how much rewards these rounds earn, as the recoveries state it. */
    readonly rewards: Estimate | undefined
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
        return cause.kind === 'silent' ? healthyHeading(t, watch, seconds, of) : undefined
      }
      const time = formatTimeOn(from, locale, timezone, { shownAt })
      const title = t(`messages:group.${cause.kind}`, { watch, time, count: cause.rounds ?? 0 })
      return isNetworkCause(cause) ? t('messages:network', { title }) : title
    }
    case 'healthy':
      return healthyHeading(t, watch, seconds, {
        rounds: cause.rounds,
        rewards: lostRewards(outageFiguresOf({ ...(cause.cost && { cost: cause.cost }) })),
      })
    default:
      return undefined
  }
}

function healthyHeading(
  t: Translate,
  watch: TextValue,
  seconds: number | undefined,
  { rounds, rewards }: Pick<Parameters<typeof causeHeading>[1], 'rounds' | 'rewards'>,
): string {
  if (seconds === undefined) return t('messages:group.healthy', { watch })
  const duration = id(formatDuration(seconds, t.locale, 'short'))
  if (rounds === undefined) return t('messages:group.healthyAfter', { watch, duration })
  if (rewards === undefined)
    return t('messages:group.healthyRounds', { watch, duration, count: rounds })
  const amount = formatAbout(rewards, t.locale)
  return t('messages:group.healthyRewards', { watch, duration, count: rounds, amount })
}

/** Whether a failure is probably that of the network. */
export function isNetworkCause(cause: Cause | undefined): boolean {
  return cause?.others !== undefined && isNetworkWide(cause.others)
}

/** What is known of the other providers and of the cost of a failure, for the fields of its message. */
export function figuresOfCause(
  cause: Cause | undefined,
  locale: Envelope['locale'],
): readonly MessageField[] {
  const { others, cost } = cause ?? {}
  const facts = outageFacts({ others, cost: cost && outageFiguresOf({ cost }).cost })
  const t = translator(locale)
  return Object.entries(facts).map(([key, fact]) => ({
    key,
    label: t(checkedKey(`messages:field.${key}`)),
    value: formatDisplayValue(fact, { locale, timeZone: 'UTC' }),
  }))
}
