import { z } from 'zod'
import { LongUpdate, type ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import { chanceOfSilence, isSilenceImprobable } from '#src/fsp/protocol/fast-update-silence.ts'
import { countOthers, judgeBySilence, usualFailers } from '#src/fsp/protocol/other-providers.ts'
import {
  type DisplayValues,
  lowerSeverity,
  type Presentation,
  type Severity,
} from '#src/kernel/display-values.ts'
import { isNetworkWide, OtherProviders, outageFacts } from '#src/kernel/outage-figures.ts'
import { Address, Hash, Instant, type JsonObject } from '#src/kernel/units.ts'
import type { EvidenceClaim, UnprovenReason } from '../../evidence-model.ts'
import {
  defineSignal,
  type Evaluation,
  type Firing,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'

/** Parameter: probability below which a silence causes an alert. */
const PROBABILITY = {
  key: 'probability',
  type: 'number',
  default: 1e-7,
  min: 1e-15,
  max: 0.1,
} as const satisfies Parameter

/** Parameter: whether silence over 1 % of a reward epoch's blocks is a warning. */
const WARNING_ENABLED: Parameter = { key: 'warningEnabled', type: 'boolean', default: false }

/** Rules about the length of a silence. */
const SILENCE_RULES = ['probability', 'one-percent'] as const
/** `too-long`: the only problem is an update for more feeds than there are. */
const Rule = z.enum([...SILENCE_RULES, 'too-long'])

const State = z.object({
  /** Whether the silence is too long and continues. */
  isSilent: z.boolean(),
  /** The last update for more feeds than there are, until an update for existing feeds only follows. */
  tooLong: LongUpdate.nullable(),
  /** Time of the first of these long updates. */
  longSince: Instant.nullable(),
  /** Block of the last update before the silence. */
  lastUpdateBlock: z.int().nullable(),
  /** Time of the last update before the silence; if none was seen, the start of the observed silence. */
  since: Instant.nullable(),
  /** Rule of the last alert of this silence; null without a silence. */
  rule: z.enum(SILENCE_RULES).nullable(),
  /** Blocks since the last update; null while nothing is wrong. */
  blocks: z.int().nullable(),
  /** Probability that a silence of these blocks happens by chance; null as above. */
  chance: z.string().nullable(),
  /** How many others failed the same at the end of the last round; null while it is unknown or nothing is wrong. */
  others: OtherProviders.nullable(),
  /** Other providers that failed the same before, as last known. They are not counted. */
  usual: z.array(z.string()),
})
type State = z.output<typeof State>

const INITIAL: State = {
  isSilent: false,
  tooLong: null,
  longSince: null,
  lastUpdateBlock: null,
  since: null,
  rule: null,
  blocks: null,
  chance: null,
  others: null,
  usual: [],
}

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
  /** Of an update for more feeds than there are, also where it explains a silence. */
  tx: Hash.exactOptional(),
  updateBlock: z.int().exactOptional(),
  feedsSent: z.int().exactOptional(),
  feedCount: z.int().exactOptional(),
  isAccepted: z.boolean().exactOptional(),
  /** Time of the last update before the silence, or of the first update that was too long. */
  since: Instant,
  /** Seconds from `since` to now or, in a recovery, to the update that ended the silence. */
  gapSeconds: z.int(),
  /** How many others failed the same at the end of the round. */
  others: OtherProviders.exactOptional(),
})

/**
 * The others that fail by the rule of an alert; with a probability that chance often explains, by that of the default.
 * Between two round ends nothing new is known of them.
 */
function othersOf(
  { provider, isBetween, compared = [] }: ProviderObservation,
  rule: z.output<typeof Rule>,
  { probability, before }: { readonly probability: number; readonly before: State },
): Pick<State, 'others' | 'usual'> {
  if (isBetween === true) return before
  const judge = judgeBySilence((silence) => {
    if (rule === 'too-long') return silence.isTooLong
    if (rule === 'one-percent') return silence.blocksSinceUpdate >= silence.onePercentBlocks
    return isSilenceImprobable(silence.exponent, Math.min(probability, PROBABILITY.default))
  })
  const usual = usualFailers(compared, { provider, judge }) ?? before.usual
  const others = countOthers(compared.slice(0, 1), { provider, judge, without: usual })
  return { others: others ?? null, usual }
}

/**
 * Fires when chance does not explain the silence, or at 1 % of a reward epoch's blocks if that is enabled, and at an
 * update for more feeds than there are; recovers with the first accepted update for existing feeds. Blocks that were
 * not read do not count.
 */
function judgeFastUpdates(
  previous: State,
  observation: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<State> {
  const { at, fastUpdates: part } = observation
  const wasOpen = previous.isSilent || previous.tooLong !== null
  if (part === null) {
    return { state: previous, phase: wasOpen ? 'firing' : 'unknown', firings: [] }
  }
  const isUnlikely = isSilenceImprobable(part.exponent, Number(parameters['probability']))
  const isOnePercent =
    parameters['warningEnabled'] === true && part.blocksSinceUpdate >= part.onePercentBlocks
  const heardAt = part.lastUpdateAt === null ? at : new Date(part.lastUpdateAt * 1000)
  const isQuiet = isUnlikely || isOnePercent
  const isHeard = (part.lastUpdateBlock ?? -1) > (previous.lastUpdateBlock ?? -1)
  const tooLong = part.tooLong ?? previous.tooLong
  if (isQuiet || part.tooLong !== undefined) {
    const rule = isUnlikely ? 'probability' : isOnePercent ? 'one-percent' : null
    const longAt = part.tooLong === undefined ? null : new Date(part.tooLong.at * 1000)
    const longSince = previous.longSince ?? longAt
    // An update that is too long ends a silence, too, if it is accepted.
    const isSame = previous.isSilent && !isHeard
    const silentSince = (isSame ? previous.since : null) ?? heardAt
    const since = rule === null ? (longSince ?? at) : silentSince
    const fired = rule ?? 'too-long'
    const { others, usual } = othersOf(observation, fired, {
      probability: Number(parameters['probability']),
      before: previous,
    })
    const about = { parameters, rule: fired, since, until: at, tooLong, others } as const
    const data = dataOf(observation, part, about)
    const firing = firingOf(isUnlikely ? 'critical' : 'warning', others, data)
    const silence =
      isQuiet || isSame
        ? { isSilent: true, since: silentSince, rule: rule ?? previous.rule }
        : { isSilent: false, since: null, rule: null }
    const { lastUpdateBlock, blocksSinceUpdate: blocks } = part
    const chance = chanceText(part.exponent)
    const measured = { lastUpdateBlock, blocks, chance, others, usual }
    const state = { ...silence, tooLong, longSince, ...measured }
    return { state, phase: 'firing', firings: [firing] }
  }
  if (!wasOpen) return { state: INITIAL, phase: 'ok', firings: [] }
  // A change of parameters does not end the silence; only a received update does.
  const isAfterLong = (part.lastUpdateBlock ?? -1) > (previous.tooLong?.block ?? -1)
  // Between two round ends, the length of the updates is not known yet.
  if (!isHeard || !isAfterLong || (previous.tooLong !== null && observation.isBetween === true)) {
    return { state: previous, phase: 'firing', firings: [] }
  }
  const rule = previous.rule ?? 'too-long'
  const since = (previous.isSilent ? previous.since : previous.longSince) ?? heardAt
  const about = { parameters, rule, since, until: heardAt, tooLong: null, others: null } as const
  const data = dataOf(observation, part, about)
  const firing = { event: 'fsp.fast-updates.recovered', severity: 'info', data } as const
  return { state: INITIAL, phase: 'ok', firings: [firing] }
}

/** The alert: one step less severe if the cause is probably the network. */
function firingOf(severity: Severity, others: State['others'], data: JsonObject): Firing {
  const isShared = others !== null && isNetworkWide(others)
  const event = 'fsp.fast-updates'
  return { event, severity: isShared ? lowerSeverity(severity) : severity, data }
}

/** A silence with the number of its blocks, the probability of that, and the others that are silent now. */
function currentData(data: JsonObject, { since, blocks, chance, others }: State): JsonObject {
  const { others: _others, ...rest } = data
  const { since: began, blocksSinceUpdate: known } = rest
  const isSame = since !== null && blocks !== null && began === since.toISOString()
  if (!isSame || chance === null || typeof known !== 'number' || blocks <= known) return data
  const figures = { blocksSinceUpdate: blocks, probabilityOfSilence: chance }
  return { ...rest, ...figures, ...(others !== null && { others: { ...others } }) }
}

function chanceText(exponent: number): string {
  return chanceOfSilence(exponent).toExponential(1)
}

function dataOf(
  { provider, rewardEpoch }: ProviderObservation,
  part: NonNullable<ProviderObservation['fastUpdates']>,
  options: {
    readonly parameters: ParameterValues
    readonly rule: z.output<typeof Rule>
    readonly since: Date
    readonly until: Date
    readonly tooLong: State['tooLong']
    readonly others: State['others']
  },
): JsonObject {
  const { parameters, rule, since, until, tooLong, others } = options
  return z.encode(Silence, {
    ...part,
    provider,
    rewardEpochId: rewardEpoch,
    probabilityOfSilence: chanceText(part.exponent),
    threshold: Number(parameters['probability']),
    rule,
    since,
    gapSeconds: Math.round((until.getTime() - since.getTime()) / 1000),
    ...(tooLong && { ...tooLong, updateBlock: tooLong.block }),
    ...(others && { others }),
  })
}

function present(event: string, json: JsonObject): Presentation {
  const data = Silence.parse(json)
  const isRecovery = event.endsWith('.recovered')
  const isLong = data.rule === 'too-long'
  const { tx, feedsSent, feedCount, isAccepted, others } = data
  const figures = others === undefined ? {} : outageFacts({ others })
  const shown = Object.keys(figures)
  const outcome = isAccepted === true ? 'accepted' : 'refused'
  const length: DisplayValues =
    tx === undefined || feedsSent === undefined || feedCount === undefined
      ? {}
      : {
          tx: { kind: 'transaction', hash: tx },
          feedsSent: { kind: 'number', value: feedsSent },
          feedCount: { kind: 'number', value: feedCount },
          outcome: { kind: 'term', key: `messages:fsp.fast-updates.long.outcome.${outcome}` },
        }
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      blocks: { kind: 'number', value: data.blocksSinceUpdate },
      chance: { kind: 'chance', value: Number(data.probabilityOfSilence) },
      chanceLimit: { kind: 'chance', value: data.threshold },
      weight: { kind: 'percent', value: data.weightShare },
      ...(data.lastUpdateBlock !== null && {
        lastUpdate: { kind: 'block', number: data.lastUpdateBlock },
      }),
      since: { kind: 'instant', at: data.since },
      duration: { kind: 'duration', seconds: data.gapSeconds },
      ...length,
      ...figures,
    },
    fields: isRecovery
      ? ['provider', 'lastUpdate']
      : isLong
        ? ['provider', ...shown, 'feedsSent', 'feedCount', 'tx']
        : [
            'provider',
            ...shown,
            'lastUpdate',
            'chance',
            'chanceLimit',
            'weight',
            ...(tx ? ['tx'] : []),
          ],
    ...(others !== undefined && isNetworkWide(others) && { isNetworkWide: true }),
    ...(isLong && { form: 'long' }),
    ...(!isLong && tx !== undefined && { advice: 'long-update' }),
    count: data.blocksSinceUpdate,
  }
}

const example = {
  provider: PROVIDER_EXAMPLE.provider,
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

/** The claim of an update for too many feeds. */
function updateClaim(data: z.output<typeof Silence>): EvidenceClaim | UnprovenReason {
  const { provider, rewardEpochId: rewardEpoch, tx, updateBlock } = data
  const { feedsSent, feedCount, isAccepted } = data
  if (tx === undefined || updateBlock === undefined) return 'other'
  if (feedsSent === undefined || feedCount === undefined || isAccepted === undefined) return 'other'
  const length = { feedsSent, feedCount, isAccepted }
  return { kind: 'update', provider, rewardEpoch, transaction: tx, block: updateBlock, ...length }
}

/** Silence in fast updates that chance does not explain, and updates for more feeds than there are. */
export const fastUpdates = defineSignal<ProviderTarget, unknown, ProviderObservation, State>({
  id: 'fast-updates',
  group: 'fast-updates',
  events: signalEvents('fast-updates'),
  parameters: [PROBABILITY, WARNING_ENABLED],
  canBeCritical: true,
  state: State,
  data: Silence.meta({ id: 'FastUpdateData' }),
  initial: INITIAL,
  // Every observation is judged, also those between two round ends.
  judges: () => true,
  evaluate: (previous, observation, { parameters }) =>
    judgeFastUpdates(previous, observation, parameters),
  current: currentData,
  present,
  claim: (json, { block }) => {
    const data = Silence.parse(json)
    const { provider, rewardEpochId: rewardEpoch, probabilityOfSilence, ...rest } = data
    const { rule } = rest
    if (rule === 'too-long') return updateClaim(data)
    const { lastUpdateBlock, blocksSinceUpdate, sortitionWeight, sampleSize } = rest
    const { threshold, onePercentBlocks } = rest
    const figures = { sortitionWeight, sampleSize, threshold, rule, onePercentBlocks }
    const silence = { lastUpdateBlock, blocksSinceUpdate, probability: probabilityOfSilence }
    return { kind: 'silence', provider, rewardEpoch, block, ...silence, ...figures }
  },
  examples: {
    'fsp.fast-updates': { ...example, others: { total: 96, failed: 4 } },
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
