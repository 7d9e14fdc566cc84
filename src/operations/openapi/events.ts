/** How the OpenAPI document describes events' `data`: the meaning of each property, and a list of all events. */
import { z } from 'zod'
import { checkedKey, hasText, type TextKey, type Translate } from '#src/i18n/translate.ts'
import { listEventSources } from '#src/watches/events.ts'

const CLAIM = 'operations:meaning.EvidenceClaim'

/** Properties of an event's `data` that have the same meaning as another value, with the key of that value's description. */
const SAME: Readonly<Record<string, TextKey>> = {
  provider: 'operations:field.providerIdentity',
  rewardEpochId: `${CLAIM}.rewardEpoch`,
  votingRoundId: 'operations:field.roundNumber',
  firstRoundId: `${CLAIM}.firstRound`,
  streak: 'operations:meaning.streak',
  'FailedTransactionData.tx': `${CLAIM}.transaction`,
  'FastUpdateData.tx': `${CLAIM}.transaction`,
  updateBlock: `${CLAIM}.block`,
  feedsSent: `${CLAIM}.feedsSent`,
  'FastUpdateData.feedCount': `${CLAIM}.feedCount`,
  isAccepted: `${CLAIM}.isAccepted`,
  'FailedTransactionData.from': 'operations:meaning.sender',
  'FailedTransactionData.to': `${CLAIM}.receiver`,
  selector: 'operations:meaning.selector',
  function: 'operations:meaning.functions.name',
  contract: 'operations:meaning.contracts.name',
  gasUsed: `${CLAIM}.gasUsed`,
  gasLimit: `${CLAIM}.gasLimit`,
  role: 'operations:field.balanceRole',
  lastUpdateBlock: 'operations:field.lastUpdateBlock',
  blocksSinceUpdate: 'operations:field.blocksSinceUpdate',
  probabilityOfSilence: `${CLAIM}.probability`,
  sortitionWeight: `${CLAIM}.sortitionWeight`,
  sampleSize: `${CLAIM}.sampleSize`,
  onePercentBlocks: `${CLAIM}.onePercentBlocks`,
  rule: `${CLAIM}.rule`,
  weightShare: 'operations:metric.weight',
  'FastUpdateData.threshold': `${CLAIM}.threshold`,
  'ErrorBudgetData.used': `${CLAIM}.used`,
  'ErrorBudgetData.done': `${CLAIM}.done`,
  'ErrorBudgetData.possible': `${CLAIM}.possible`,
  rate: 'operations:field.rate',
  protocolMinimum: 'operations:field.protocolMinimum',
  nodeId: 'operations:field.nodeId',
  'LowBalanceData.address': `${CLAIM}.address`,
  balanceWei: 'operations:field.balanceWei',
  limitWei: `${CLAIM}.limitWei`,
  minutes: `${CLAIM}.minutes`,
  openedAt: `${CLAIM}.openedAt`,
  vote: `${CLAIM}.vote`,
  signedOtherHash: `${CLAIM}.signedOtherHash`,
  voters: `${CLAIM}.voters`,
  startVotingRoundId: `${CLAIM}.startRound`,
  balanceCredits: 'operations:meaning.balanceCredits',
  'BalanceChangeData.threshold': 'operations:meaning.threshold',
  decimals: 'operations:meaning.decimals',
  feed: 'operations:meaning.feed',
  'PriceMoveData.direction': 'operations:meaning.direction',
  windowSeconds: 'operations:meaning.windowSeconds',
}

const Properties = z.record(z.string(), z.record(z.string(), z.unknown()))
const DataSchema = z.looseObject({ properties: Properties.exactOptional() })

/** The schema of an event's `data` with a description for each property that has a meaning. */
export function withDataMeanings(t: Translate, schema: unknown, component: string): unknown {
  const { properties = {}, ...rest } = DataSchema.parse(schema)
  const explained = Object.entries(properties).map(([name, property]) => {
    const description = meaningOf(t, component, name)
    return [name, { ...property, ...(description !== undefined && { description }) }] as const
  })
  return { ...rest, properties: Object.fromEntries(explained) }
}

function meaningOf(t: Translate, component: string, name: string): string | undefined {
  const names = [`${component}.${name}`, name]
  const ownKey = names.map((name) => `operations:event.${name}`).find(hasText)
  if (ownKey !== undefined) return t(checkedKey(ownKey))
  const sharedKey = names.map((name) => SAME[name]).find((key) => key !== undefined)
  return sharedKey && t(sharedKey)
}

/** Markdown list of all events, with the properties of each event's `data` and their JSON types. */
export function describeEventData(): string {
  const lines = listEventSources().map(({ event, signal }) => {
    const {
      $ref,
      $defs = {},
      ...rest
    } = JsonShape.parse(z.toJSONSchema(signal.data, STORED_FORMAT))
    const named = $ref === undefined ? rest : $defs[$ref.slice('#/$defs/'.length)]
    const { properties = {} } = named ?? {}
    const parts = Object.entries(properties).map(([name, shape]) => `${name} (${typesOf(shape)})`)
    return `- \`${event}\`: ${parts.join(', ')}`
  })
  return lines.join('\n')
}

/** Options of `toJSONSchema`: describe what is stored and sent, which is the input side of codecs. */
const STORED_FORMAT = { io: 'input', unrepresentable: 'any' } as const

const AnyProperties = z.record(z.string(), z.unknown()).optional()

const JsonShape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.unknown().optional(),
  properties: AnyProperties,
  anyOf: z.array(z.unknown()).optional(),
  $ref: z.string().optional(),
  $defs: z.record(z.string(), z.looseObject({ properties: AnyProperties })).optional(),
})

function typesOf(shape: unknown): string {
  const { type, anyOf = [], const: only } = JsonShape.parse(shape)
  const types = anyOf.flatMap((schema) => typesOf(schema).split(' or '))
  return [...new Set(type === undefined ? types : [type].flat())].join(' or ') || typeof only
}
