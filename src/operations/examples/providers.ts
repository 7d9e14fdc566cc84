import type * as operations from '../rest/providers.ts'
import type { ExamplesOf } from './define.ts'
import { PROVIDER } from './story.ts'

const FINE = {
  ftso: { commit: 'ok', reveal: 'ok', signature: 'ok' },
  fdc: { bitvote: 'ok', signature: 'ok' },
}

/** A place in the reward epoch. */
const EPOCH = { roundsLeft: 277, epochEndsAt: '2026-11-20T19:00:00.000Z', budgetEndsAt: null }

/** How much time was left of a duty. */
function margin(medianSeconds: number, leastSeconds: number, driftSeconds: number) {
  return { rounds: 2874, medianSeconds, leastSeconds, driftSeconds }
}

/** A provider that has missed a commit. */
export const providerExamples: ExamplesOf<typeof operations> = {
  getProviderFsp: {
    response: {
      provider: PROVIDER,
      addresses: {
        submit: '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269',
        submitSignatures: '0x73b05377E4057c76878f5F97D33792807baE171b',
        signingPolicy: '0x84824513537A6d24cfcEDdc1Ab8f4079a6Bd4CFb',
      },
      rewardEpoch: 452,
      registered: true,
      registeredNext: null,
      registrationOpensAt: null,
      inPolicy: true,
      weight: 0.025,
      currentRound: 1_519_403,
      rounds: [
        {
          id: 1_519_401,
          startsAt: '2026-11-20T12:01:30.000Z',
          ...FINE,
          ftso: { ...FINE.ftso, commit: 'missing' },
        },
        { id: 1_519_400, startsAt: '2026-11-20T12:00:00.000Z', ...FINE },
      ],
      last30Days: { days: 30, rounds: 28_800, badRounds: 20, rate: 0.9993 },
      others: { total: 97, failed: 1 },
      fastUpdates: {
        lastUpdateBlock: 41_880_111,
        blocksSinceUpdate: 12,
        probabilityOfSilence: 0.636,
      },
      minimalConditions: {
        anchor: { rate: 0.96, minimum: 0.8, used: 0.04, roundsToMiss: 644, ...EPOCH },
        fdc: { rate: 0.91, minimum: 0.6, used: 0.05, roundsToMiss: 1277, ...EPOCH },
        uptime: { rate: 0.99, minimum: 0.8, used: 0.01, roundsToMiss: 664, ...EPOCH },
        fastUpdates: { rate: 1, minimum: 0.8, used: 0, roundsToMiss: 672, ...EPOCH },
      },
      validators: [{ nodeId: 'NodeID-EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB', listed: true }],
      balances: [
        {
          role: 'submit',
          address: '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269',
          balanceWei: '48200000000000000000',
        },
      ],
      asOf: '2026-11-20T12:04:31.000Z',
      stale: false,
    },
  },
  getEpochReport: {
    response: {
      provider: PROVIDER,
      name: 'Alpha Oracle',
      rewardEpoch: 451,
      isOver: true,
      firstDay: '2026-11-16',
      lastDay: '2026-11-20',
      rounds: 3360,
      badRounds: 14,
      rate: 0.9958,
      rank: { place: 12, of: 98 },
      duties: [
        { duty: 'commit', rounds: 3360, missed: 9, margin: margin(31, 4, -12) },
        { duty: 'reveal', rounds: 3360, missed: 9, margin: margin(26, 2, -1) },
        { duty: 'signature', rounds: 3360, missed: 5, margin: margin(9, -3, 0) },
        { duty: 'bitvote', rounds: 2874, missed: 4, margin: margin(24, 2, 0) },
        { duty: 'fdcSignature', rounds: 2874, missed: 4, margin: margin(8, -2, 1) },
      ],
      minimalConditions: {
        anchor: { rate: 0.96, minimum: 0.8, used: 0.2 },
        fdc: { rate: 0.91, minimum: 0.6, used: 0.22 },
        uptime: { rate: 0.99, minimum: 0.8, used: 0.05 },
        fastUpdates: null,
      },
      eligible: true,
      passes: 3,
      failures: [],
      rewards: { state: 'published', amountWei: '18432500000000000000000' },
      mend: [
        { signal: 'ftso-commit', rounds: 9 },
        { signal: 'ftso-reveal', rounds: 9 },
        { signal: 'ftso-signature', rounds: 5 },
        { signal: 'fdc-bitvote', rounds: 4 },
        { signal: 'fdc-signature', rounds: 4 },
      ],
    },
  },
  getProviderMetrics: {
    response: `# HELP flare_provider_duty_ok Whether the duty was fulfilled in the newest round with a known result: 1 or 0.
# TYPE flare_provider_duty_ok gauge
flare_provider_duty_ok{provider="${PROVIDER}",chain="flare",duty="commit"} 1
flare_provider_duty_ok{provider="${PROVIDER}",chain="flare",duty="reveal"} 0
# HELP flare_provider_balance_coins Balance of the address, by role, in FLR.
# TYPE flare_provider_balance_coins gauge
flare_provider_balance_coins{provider="${PROVIDER}",chain="flare",role="submit",address="0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269"} 48.2
`,
  },
}
