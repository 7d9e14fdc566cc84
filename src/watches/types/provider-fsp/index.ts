import { z } from 'zod'
import { checkOf, ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { DisplayValue } from '#src/kernel/display-values.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { defineWatchType } from '../../define.ts'
import {
  PROVIDER_FIELDS,
  ProviderTarget,
  providerDisplayValues,
  providerLabel,
  resolveProvider,
} from '../provider-target.ts'
import { BALANCE_SIGNALS } from './balances.ts'
import { CONDITION_SIGNALS, CONDITIONS, conditionStatusOf } from './conditions.ts'
import { daysLeft } from './days-left.ts'
import { FAST_UPDATE_SIGNALS } from './fast-updates.ts'
import { FDC_SIGNALS } from './fdc.ts'
import { FTSO_SIGNALS } from './ftso.ts'
import { OFFENCE_SIGNALS } from './offences.ts'
import { REGISTRATION_SIGNALS } from './registration.ts'
import { TRANSACTION_SIGNALS } from './transactions.ts'
import { VALIDATOR_SIGNALS } from './validators.ts'

const Settings = z.strictObject({})

/**
 * 1,500 blocks are about 20 rounds. Decoding them for 100 providers takes about 0.1 s, with returns to the
 * event loop in between.
 */
const BLOCKS_PER_BATCH = 1500

/** Length of a voting round on all of Flare's chains. */
const ROUND_SECONDS = 90
/** Two stored rounds that are further apart than this have a gap between them. */
const GAP_MS = 10 * MINUTE_MS

/** Checks of a round in the summary for people, with their marks. */
const SUMMARY_CHECKS = ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const
const MARKS = { good: '✓', bad: '✕', unknown: '–', 'not-applicable': '–' } as const

/** All signals, in the order of the table in the docs. */
const SIGNALS = [
  ...FTSO_SIGNALS,
  ...FDC_SIGNALS,
  ...OFFENCE_SIGNALS,
  ...TRANSACTION_SIGNALS,
  ...FAST_UPDATE_SIGNALS,
  ...REGISTRATION_SIGNALS,
  ...CONDITION_SIGNALS,
  ...VALIDATOR_SIGNALS,
  daysLeft,
  ...BALANCE_SIGNALS,
]

/**
 * Whether an observation was made at the end of a round. Signals judge only these, unless they define
 * `judges` to judge observations between rounds, too.
 */
function isRoundEnd({ isBetween }: ProviderObservation): boolean {
  return isBetween !== true
}

/** Used share of the error budget of the minimal condition that used the most; a dash while none is known. */
function usedBudget(observation: ProviderObservation): DisplayValue {
  const used = Object.values(CONDITIONS).flatMap(
    (condition) => conditionStatusOf(condition, [observation])?.used ?? [],
  )
  if (used.length === 0) return { kind: 'identifier', value: MARKS.unknown }
  return { kind: 'percent', value: Math.floor(Math.max(...used) * 100) / 100 }
}

/**
 * Watches a data provider in every voting round and reward epoch. Signals that are disabled by default come
 * last.
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
  blocksPerBatch: BLOCKS_PER_BATCH,
  check: async () => [],
  resolve: resolveProvider,
  defaultLabel: providerLabel,
  form: {
    icon: '🛰️',
    target: PROVIDER_FIELDS,
    settings: [],
    facts: ({ target, observation }) => ({
      ...providerDisplayValues(target.provider),
      ...(observation && { budget: usedBudget(observation) }),
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
    gapMs: GAP_MS,
    async *read({ facts }, { target, from, to }) {
      for await (const page of facts.rounds.history(target.provider, { from, to })) {
        const { observations, isWhole } = page
        yield { observations, ...(!isWhole && { gaps: ['unwatched_parts'] }) }
      }
    },
  },
  watermark: {
    everySeconds: ROUND_SECONDS,
    block: ({ facts }) => facts.rounds.indexedBlock(),
  },
  observe: ({ facts }, requests, { after, upTo }) =>
    facts.rounds.observations(
      requests.map(({ target, isNew }) => ({ provider: target.provider, isNew })),
      { after, upTo: upTo.number },
    ),
  signals: [
    ...SIGNALS.filter(({ defaultEnabled }) => defaultEnabled),
    ...SIGNALS.filter(({ defaultEnabled }) => !defaultEnabled),
  ].map((signal) => ({ judges: isRoundEnd, ...signal })),
})
