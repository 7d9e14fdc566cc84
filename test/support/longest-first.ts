import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, which would hold everything up if they were started last. */
const LONGEST = [
  'soak/soak',
  'sandbox/world',
  'pages/access',
  'bot/every-button',
  'sandbox/player-live',
  'sandbox/happen',
  'billing/killed',
  'db/embedded',
  'delivery/soak',
  'bot/every-button-money',
  'pages/pay-browser',
  'journeys/chat-only',
  'watches/faults',
  'journeys/killed',
  'bot/service',
  'jobs/renew-subscriptions',
  'pages/connect-browser',
  'jobs/judge-ledgers',
  'billing/metering-killed',
]

/** Starts the longest files first, also where nothing is known of an earlier run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return at < 0 ? LONGEST.length : at
}
