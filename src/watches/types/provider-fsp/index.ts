import { z } from 'zod'
import { checkOf, ProviderObservation } from '#src/fsp/indexer/observation.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { defineWatchType } from '../../define.ts'
import {
  PROVIDER_FIELDS,
  ProviderTarget,
  providerFacts,
  providerLabel,
  resolveProvider,
} from '../provider-target.ts'
import { mcAnchor, mcFdc, mcUptime, validatorNotListed } from './conditions.ts'
import { fastUpdates } from './fast-updates.ts'
import { fdcBitvote, fdcBitvoteLength, fdcConsensus, fdcSignature, fdcSubmit1 } from './fdc.ts'
import { ftsoCommit, ftsoReveal, ftsoSignature } from './ftso.ts'
import { fdcRevealOffence, revealOffence, signatureGrace, signatureMismatch } from './offences.ts'
import { notInPolicy, registration } from './registration.ts'
import { balanceLow, rewardsUnclaimed, txFailed } from './transactions.ts'

const Settings = z.strictObject({})

/**
 * About twenty rounds of 100 providers are decoded in a tenth of a second, with returns to the event loop
 * in between.
 */
const BLOCKS_PER_LOOK = 1500

/** Longest interval between stored rounds that is no hole; a round takes 90 seconds. */
const HOLE_MS = 10 * MINUTE_MS

/** Checks of a round in the summary for people, with their marks. */
const SUMMARY_CHECKS = ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const
const MARKS = { good: '✓', bad: '✕', unknown: '–', 'not-applicable': '–' } as const

/** Signals that are also judged by blocks between two round ends. */
const BETWEEN_ROUNDS = ['registration', 'fast-updates']

function isRoundEnd({ isBetween }: ProviderObservation): boolean {
  return isBetween !== true
}

/**
 * Watch type of a data provider in every voting round and reward epoch. First the signals of the published
 * table, then those disabled by default.
 */
export const providerFsp = defineWatchType<
  ProviderTarget,
  z.output<typeof Settings>,
  ProviderObservation
>({
  name: 'provider-fsp',
  target: ProviderTarget,
  settings: Settings,
  observation: ProviderObservation,
  evidence: 'history',
  blocksPerLook: BLOCKS_PER_LOOK,
  check: async () => [],
  resolve: resolveProvider,
  defaultLabel: providerLabel,
  form: {
    icon: '🛰️',
    target: PROVIDER_FIELDS,
    settings: [],
    facts: ({ target, observation }) => ({
      ...providerFacts(target.provider),
      ...(observation && {
        round: { kind: 'identifier', value: observation.round },
        ...Object.fromEntries(
          SUMMARY_CHECKS.map((check) => [
            check,
            { kind: 'identifier', value: MARKS[checkOf(observation, check).verdict] } as const,
          ]),
        ),
      }),
    }),
  },
  history: {
    keeps: 'each',
    holeMs: HOLE_MS,
    async *read({ facts }, { target, from, to }) {
      for await (const page of facts.rounds.history(target.provider, { from, to })) {
        const { observations, isWhole } = page
        yield { observations, ...(!isWhole && { gaps: ['unwatched_parts'] }) }
      }
    },
  },
  watermark: ({ facts }) => facts.rounds.progress(),
  observe: ({ facts }, requests, { after, upTo }) =>
    facts.rounds.observations(
      requests.map(({ target, isNew }) => ({ provider: target.provider, isNew })),
      { after, upTo: upTo.number },
    ),
  signals: [
    ftsoCommit,
    ftsoReveal,
    ftsoSignature,
    fdcBitvote,
    fdcSignature,
    fdcSubmit1,
    revealOffence,
    signatureMismatch,
    signatureGrace,
    txFailed,
    fastUpdates,
    registration,
    notInPolicy,
    fdcBitvoteLength,
    fdcConsensus,
    fdcRevealOffence,
    mcAnchor,
    mcFdc,
    mcUptime,
    validatorNotListed,
    balanceLow,
    rewardsUnclaimed,
  ].map((signal) =>
    BETWEEN_ROUNDS.includes(signal.id) ? signal : { ...signal, judges: isRoundEnd },
  ),
})
