import { expect, test } from 'vitest'
import { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { Address } from '#src/kernel/units.ts'
import { metricsText } from './provider-metrics.ts'

const PROVIDER = Address.parse('0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE')
const NODE = 'NodeID-EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB'

function roundOf(round: number, parts: object = {}): ProviderObservation {
  return ProviderObservation.parse({
    position: round,
    at: '2026-11-20T12:00:00.000Z',
    provider: PROVIDER,
    round,
    startsAt: 1_795_176_000,
    rewardEpoch: 452,
    addresses: null,
    checks: null,
    anchors: null,
    policy: null,
    registration: null,
    fastUpdates: null,
    transactions: [],
    balances: null,
    nodes: null,
    rewards: null,
    earnings: null,
    ...parts,
  })
}

/** Verdicts of a round of which nothing but the commit is known. */
const withCommit = (commit: object) => ({
  checks: {
    ...Object.fromEntries(ROUND_CHECKS.map((name) => [name, { verdict: 'unknown' }])),
    commit,
  },
})
const common = `provider="${PROVIDER}",chain="flare"`
const linesOf = async (rounds: readonly ProviderObservation[]) =>
  (await metricsText({ provider: PROVIDER, rounds: rounds }, 'en')).split('\n')

test('a provider without stored rounds has counts of zero, and no metrics with unknown values', async () => {
  const lines = await linesOf([])
  const values = lines.filter((line) => line.startsWith('flare_'))
  expect(values).toContain(`flare_provider_rounds{${common}} 0`)
  expect(values.every((line) => line.endsWith(' 0'))).toBe(true)
  expect(lines.join('\n')).not.toContain('flare_provider_in_policy')
})

test('a value that the newest round lacks comes from the last round that has it', async () => {
  const lines = await linesOf([
    roundOf(3, withCommit({ verdict: 'unknown' })),
    roundOf(2, {
      ...withCommit({ verdict: 'bad', values: { reason: 'late' } }),
      rewards: { epochs: [450, 451], amountWei: '1500000000000000000', expiresAt: 1_800_000_000 },
      nodes: [{ nodeId: NODE, polls: 3, connectedPolls: 3, isListed: true, endsAt: null }],
    }),
    roundOf(1, {
      ...withCommit({ verdict: 'good' }),
      nodes: [{ nodeId: NODE, polls: 1, connectedPolls: 0, isListed: true, endsAt: null }],
    }),
  ])
  expect(lines).toContain(`flare_provider_duty_ok{${common},duty="commit"} 0`)
  expect(lines).toContain(`flare_provider_duties{${common},duty="commit",result="late"} 1`)
  expect(lines).toContain(`flare_provider_duties{${common},duty="commit",result="ok"} 1`)
  expect(lines).toContain(`flare_provider_unclaimed_rewards_coins{${common}} 1.5`)
  expect(lines).toContain(`flare_provider_unclaimed_reward_epochs{${common}} 2`)
  expect(lines).toContain(`flare_provider_validator_uptime_ratio{${common},node="${NODE}"} 0.75`)
  expect(lines).toContain(`flare_provider_round{${common}} 3`)
})

test('a registration for an earlier epoch gives no metric for the next one', async () => {
  const part = {
    ...{ epoch: 452, openedAt: 1, closesAtEarliest: 2, isClosed: true, isRegistered: true },
    ...{ wasRegistered: true, preRegistered: null, preRegistrationFailed: false },
  }
  const text = (await linesOf([roundOf(2), roundOf(1, { registration: part })])).join('\n')
  expect(text).not.toContain('registered_next')
})

test.each(LOCALES)('every metric has a meaning in %s', async (locale) => {
  const text = await metricsText({ provider: PROVIDER, rounds: [roundOf(1)] }, locale)
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  const explained = [...text.matchAll(/^# HELP (\S+) \S{1}.+/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  expect(explained).toEqual(names)
})
