/** The cards of the last week, due on Monday morning of each reader until Tuesday night. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WeeklyCard } from '#src/pictures/weekly-card.ts'
import { dueWeek, isAnyWeekDue, type ReaderWeek } from '#src/recipients/week.ts'
import type { WatchTypeFacts } from '#src/watches/facts.ts'
import { countWeek } from '#src/watches/week-counts.ts'
import type { Addressed, Schedule, ScheduleDeps } from './scheduled.ts'

/** What weekly cards are made from. */
export interface WeeklyDeps extends ScheduleDeps {
  readonly facts: Pick<WatchTypeFacts, 'rounds'>
  /** Number of incidents of a watch in a span. */
  readonly countIncidents: (
    db: Db,
    watch: { readonly wallet: Address; readonly watchId: number },
    span: { readonly from: Date; readonly to: Date },
  ) => Promise<number>
}

/** Maximum number of cards that a reader gets in a week. */
const CARDS_MAX = 3

/** The cards of the last week; undefined on days on which none is due. */
export function weeklyCards(deps: WeeklyDeps): Schedule | undefined {
  const now = deps.clock.now()
  if (!isAnyWeekDue(now)) return undefined
  return {
    wanted: 'weeklyCard',
    max: CARDS_MAX,
    keyOf({ watchId }, { timezone }) {
      const week = dueWeek(now, timezone)
      return week && `weekly ${watchId} ${week.firstDay}`
    },
    async write(addressed) {
      const week = dueWeek(now, addressed.reader.timezone)
      if (week === undefined) return undefined
      const { watchId } = addressed.subject
      return { kind: 'weekly', watchId, card: await cardOf(deps, addressed, week) }
    },
  }
}

async function cardOf(
  { db, facts, countIncidents }: WeeklyDeps,
  { wallet, subject, reader }: Addressed,
  { starts, firstDay }: ReaderWeek,
): Promise<WeeklyCard> {
  const [from, to] = [starts[0], starts.at(-1)]
  if (from === undefined || to === undefined) throw new Error('a week has days')
  const { watchId, address, balance, isProvider, label } = subject
  const incidents = await countIncidents(db, { wallet, watchId }, { from, to })
  const rounds = isProvider ? await facts.rounds.verdictsBetween(address, { from, to }) : undefined
  return {
    locale: reader.locale,
    name: label,
    address,
    firstDay,
    incidents,
    ...(rounds && { provider: countWeek(starts.slice(0, -1), rounds) }),
    ...(balance && { balance }),
  }
}
