/**
 * The report of the reward epoch that ended last. It is due when the rewards are published, or two days after the end if
 * they are not by then, and for two days from then on: later a report would tell of the epoch before the last.
 */
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { type EpochReport, readEpochReport } from '#src/watches/epoch-report.ts'
import type { WatchTypeFacts } from '#src/watches/facts.ts'
import type { Schedule, ScheduleDeps } from './scheduled.ts'

/** What reports are made from. */
export interface ReportDeps extends ScheduleDeps {
  readonly facts: Pick<WatchTypeFacts, 'epochs' | 'rounds' | 'providerNames'>
}

/** Time for which a report waits for the publication of rewards, and for which it is due then. */
const WAIT_MS = 2 * DAY_MS
const DUE_MS = 2 * DAY_MS
/** Maximum number of reports that a reader gets for an epoch. */
const REPORTS_MAX = 20

/** Whether the report of an epoch can be sent. Pure. */
function isReportDue(
  {
    endedAt,
    rewardsAt,
    readsRewards,
  }: NonNullable<Awaited<ReturnType<ReportDeps['facts']['epochs']['ended']>>>,
  now: Date,
): boolean {
  const endMs = endedAt.getTime()
  const waitedMs = endMs + (readsRewards ? WAIT_MS : 0)
  const publishedMs = rewardsAt === null ? waitedMs : Math.max(endMs, rewardsAt.getTime())
  const dueMs = Math.min(waitedMs, publishedMs)
  return now.getTime() >= dueMs && now.getTime() < dueMs + DUE_MS
}

/** The reports of the reward epoch that ended last; undefined while none is due. */
export async function epochReports(deps: ReportDeps): Promise<Schedule | undefined> {
  const { facts, clock } = deps
  const ended = await facts.epochs.ended()
  if (ended === undefined || !isReportDue(ended, clock.now())) return undefined
  const { rewardEpoch: epoch } = ended
  // Many wallets watch the same provider, and all of its rounds are read for a report.
  const reports = new Map<Address, Promise<EpochReport | undefined>>()
  return {
    wanted: 'epochReport',
    max: REPORTS_MAX,
    keyOf: ({ isProvider, address }) =>
      isProvider ? `epoch-report ${address} ${epoch}` : undefined,
    async write({ subject: { address: provider, label } }) {
      const known = reports.get(provider) ?? readEpochReport({ facts }, { provider, epoch })
      reports.set(provider, known)
      const report = await known
      return report && { kind: 'epoch-report', name: label, report }
    },
  }
}
