import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation.ts'
import { chanceOfSilence, isSilent } from '#src/fsp/protocol/silence.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import {
  defineSignal,
  type Evaluation,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { eventsOf } from './events.ts'
import { EXAMPLE } from './round-examples.ts'

/** Parameter: probability below which a silence causes an alert. */
const PROBABILITY: Parameter = {
  key: 'probability',
  type: 'number',
  default: 1e-7,
  min: 1e-15,
  max: 0.1,
}

/** Parameter: whether silence over 1 % of a reward epoch's blocks is a warning. */
const WARNING_ENABLED: Parameter = { key: 'warningEnabled', type: 'boolean', default: false }

const Rule = z.enum(['probability', 'one-percent'])

const State = z.object({
  /** Whether the silence is too long and continues. */
  isSilent: z.boolean(),
  /** Block of the last update before the silence. */
  lastUpdateBlock: z.int().nullable(),
  /** Time of the last update; if none was seen, the start of the observed silence. */
  since: Instant.nullable(),
  /** Rule of the last alert of this silence. */
  rule: Rule.nullable().default(null),
})
type State = z.output<typeof State>

const INITIAL: State = { isSilent: false, lastUpdateBlock: null, since: null, rule: null }

/** `data` of both events. */
const Silence = z.object({
  provider: Address,
  rewardEpochId: z.int(),
  blocksSinceUpdate: z.int(),
  lastUpdateBlock: z.int().nullable(),
  /** Probability that such a silence happens by chance, for example `3.1e-9`. */
  probabilityOfSilence: z.string(),
  threshold: z.number(),
  sortitionWeight: z.int(),
  sampleSize: z.number(),
  onePercentBlocks: z.int(),
  weightShare: z.number(),
  /** Rule that fired. */
  rule: Rule,
  /** The last update before the silence. */
  since: Instant,
  /** Seconds from `since` to now or, in a recovery, to the update that ended the silence. */
  gapSeconds: z.int(),
})

/**
 * Fires when chance does not explain the silence, or at 1 % of a reward epoch's blocks if that is enabled;
 * recovers with the first update. Blocks that were not read do not count.
 */
function fastUpdateSilence(
  previous: State,
  { provider, rewardEpoch, at, fastUpdates: part }: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<State> {
  if (part === null) {
    return { state: previous, phase: previous.isSilent ? 'firing' : 'unknown', firings: [] }
  }
  const threshold = Number(parameters['probability'])
  const isUnlikely = isSilent(part.exponent, threshold)
  const isOnePercent =
    parameters['warningEnabled'] === true && part.blocksSinceUpdate >= part.onePercentBlocks
  const heardAt = part.lastUpdateAt === null ? at : new Date(part.lastUpdateAt * 1000)
  const isOpen = isUnlikely || isOnePercent
  const since = previous.since ?? heardAt
  const until = isOpen ? at : heardAt
  const rule = isUnlikely ? 'probability' : isOnePercent ? 'one-percent' : previous.rule
  const dataOf = () =>
    z.encode(Silence, {
      ...part,
      provider,
      rewardEpochId: rewardEpoch,
      probabilityOfSilence: chanceOfSilence(part.exponent).toExponential(1),
      threshold,
      rule: rule ?? 'probability',
      since,
      gapSeconds: Math.round((until.getTime() - since.getTime()) / 1000),
    })
  if (isOpen) {
    const severity = isUnlikely ? 'critical' : 'warning'
    const state = { isSilent: true, lastUpdateBlock: part.lastUpdateBlock, since, rule }
    const firing = { event: 'fsp.fast-updates', severity, data: dataOf() } as const
    return { state, phase: 'firing', firings: [firing] }
  }
  // A change of parameters does not end the silence; only a received update does.
  const isHeard =
    part.lastUpdateBlock !== null && part.lastUpdateBlock > (previous.lastUpdateBlock ?? -1)
  if (previous.isSilent && !isHeard) {
    return { state: previous, phase: 'firing', firings: [] }
  }
  if (!previous.isSilent) return { state: INITIAL, phase: 'ok', firings: [] }
  const firing = { event: 'fsp.fast-updates.recovered', severity: 'info', data: dataOf() } as const
  return { state: INITIAL, phase: 'ok', firings: [firing] }
}

function present(event: string, json: JsonObject): Presentation {
  const data = Silence.parse(json)
  const isRecovery = event.endsWith('.recovered')
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      blocks: { kind: 'number', value: data.blocksSinceUpdate },
      chance: { kind: 'identifier', value: data.probabilityOfSilence },
      limit: { kind: 'identifier', value: data.threshold.toExponential() },
      weight: { kind: 'percent', value: data.weightShare },
      ...(data.lastUpdateBlock !== null && {
        lastUpdate: { kind: 'block', number: data.lastUpdateBlock },
      }),
      since: { kind: 'instant', at: data.since },
      duration: { kind: 'duration', seconds: data.gapSeconds },
    },
    fields: isRecovery
      ? ['provider', 'lastUpdate']
      : ['provider', 'lastUpdate', 'chance', 'limit', 'weight'],
    count: data.blocksSinceUpdate,
  }
}

const example = {
  provider: EXAMPLE.provider,
  rewardEpochId: 452,
  blocksSinceUpdate: 463,
  lastUpdateBlock: 41_879_660,
  probabilityOfSilence: '2.6e-8',
  threshold: 1e-7,
  sortitionWeight: 103,
  sampleSize: 1.5,
  onePercentBlocks: 2520,
  weightShare: 0.025,
  rule: 'probability',
  since: '2026-11-20T12:00:00.000Z',
  gapSeconds: 645,
}

/** Silence in fast updates that chance does not explain. */
export const fastUpdates = defineSignal<ProviderTarget, unknown, ProviderObservation, State>({
  id: 'fast-updates',
  group: 'fast-updates',
  events: eventsOf('fast-updates'),
  parameters: [PROBABILITY, WARNING_ENABLED],
  canBeCritical: true,
  state: State,
  data: Silence.meta({ id: 'FastUpdateData' }),
  initial: INITIAL,
  // Every observation is judged, also those between two round ends.
  judges: () => true,
  evaluate: (previous, observation, { parameters }) =>
    fastUpdateSilence(previous, observation, parameters),
  present,
  claim: (json, { block }) => {
    const {
      provider,
      rewardEpochId: rewardEpoch,
      probabilityOfSilence,
      ...rest
    } = Silence.parse(json)
    const { lastUpdateBlock, blocksSinceUpdate, sortitionWeight, sampleSize } = rest
    const { threshold, rule, onePercentBlocks } = rest
    const figures = { sortitionWeight, sampleSize, threshold, rule, onePercentBlocks }
    const silence = { lastUpdateBlock, blocksSinceUpdate, probability: probabilityOfSilence }
    return { kind: 'silence', provider, rewardEpoch, block, ...silence, ...figures }
  },
  examples: {
    'fsp.fast-updates': example,
    'fsp.fast-updates.recovered': {
      ...example,
      blocksSinceUpdate: 2,
      lastUpdateBlock: 41_880_540,
      probabilityOfSilence: '9.3e-1',
      gapSeconds: 1410,
    },
  },
})

export const FAST_UPDATE_SIGNALS = [fastUpdates] as const
