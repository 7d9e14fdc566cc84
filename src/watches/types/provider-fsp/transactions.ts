import { z } from 'zod'
import type { ProviderObservation, TransactionPart } from '#src/fsp/indexer/observation-model.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, Hash, type JsonObject } from '#src/kernel/units.ts'
import { defineSignal, type Evaluation } from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { knownAddress, PROVIDER_EXAMPLE } from './round-examples.ts'

/** `data` of both events of `tx-failed`. */
const Failed = z.object({
  provider: Address,
  tx: Hash,
  from: Address,
  role: z.string(),
  to: Address,
  contract: z.string(),
  selector: z.string(),
  function: z.string(),
  reason: z.string().nullable(),
  block: z.int(),
  gasUsed: z.int(),
  gasLimit: z.int(),
})

const FailedState = z.object({
  /** Combinations of sender, contract and function whose last transaction failed. */
  failing: z.array(z.string()),
  /** Whether a failure was notified, and its recovery was not yet. */
  isTold: z.boolean(),
  /** The last success of a failing combination. */
  repaired: Failed.nullable(),
})

type FailedState = z.output<typeof FailedState>

const NOTHING_FAILED: FailedState = { failing: [], isTold: false, repaired: null }

/**
 * Fires when a transaction to a protocol contract was reverted, except for races that providers lose every
 * day; recovers when every failing combination has succeeded again.
 */
function transactionFailed(
  previous: FailedState,
  { provider, transactions }: ProviderObservation,
): Evaluation<FailedState> {
  const judged = transactions.filter(({ ok, isBenign }) => ok || !isBenign)
  const failing = new Set(previous.failing)
  let { repaired } = previous
  for (const call of judged) {
    if (!call.ok) failing.add(kindOf(call))
    else if (failing.delete(kindOf(call))) repaired = dataOf(provider, call)
  }
  const failed = judged.findLast(({ ok }) => !ok)
  if (failed !== undefined) {
    const data = z.encode(Failed, dataOf(provider, failed))
    const firing = { event: 'fsp.tx-failed', severity: 'warning', data } as const
    const state = { failing: [...failing], isTold: true, repaired }
    return { state, phase: 'firing', firings: [firing] }
  }
  if (failing.size > 0 || repaired === null) {
    const phase = previous.isTold ? 'firing' : 'ok'
    return {
      state: { failing: [...failing], isTold: previous.isTold, repaired },
      phase,
      firings: [],
    }
  }
  const data = z.encode(Failed, repaired)
  const firing = { event: 'fsp.tx-failed.recovered', severity: 'info', data } as const
  return { state: NOTHING_FAILED, phase: 'ok', firings: [firing] }
}

function kindOf({ from, to, selector }: TransactionPart): string {
  return `${from} ${to} ${selector}`
}

function dataOf(provider: Address, part: TransactionPart): z.output<typeof Failed> {
  return { ...part, provider, tx: z.decode(Hash, part.tx) }
}

function presentFailed(_event: string, json: JsonObject): Presentation {
  const data = Failed.parse(json)
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      function: { kind: 'identifier', value: data.function },
      from: { kind: 'address', address: data.from },
      tx: { kind: 'transaction', hash: data.tx },
      ...(data.reason !== null && { revert: { kind: 'name', text: data.reason } }),
    },
    fields: ['provider', 'function', 'from', ...(data.reason === null ? [] : ['revert']), 'tx'],
  }
}

const failedExample = {
  provider: PROVIDER_EXAMPLE.provider,
  tx: PROVIDER_EXAMPLE.tx,
  from: PROVIDER_EXAMPLE.address,
  role: 'submit',
  to: '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f',
  contract: 'Submission',
  selector: '0x9d00c9fd',
  function: 'submit2',
  reason: 'out of gas',
  block: 41_880_123,
  gasUsed: 60_000,
  gasLimit: 60_000,
}

/** A protocol transaction that was reverted. */
export const txFailed = defineSignal<ProviderTarget, unknown, ProviderObservation, FailedState>({
  id: 'tx-failed',
  group: 'transactions',
  events: signalEvents('tx-failed'),
  state: FailedState,
  data: Failed.meta({ id: 'FailedTransactionData' }),
  initial: NOTHING_FAILED,
  evaluate: (previous, observation) => transactionFailed(previous, observation),
  present: presentFailed,
  claim: (json) => {
    const { provider, tx, block, from, to, selector, gasUsed, gasLimit } = Failed.parse(json)
    const call = { sender: from, receiver: to, selector, gasUsed, gasLimit }
    return { kind: 'failed-call', provider, transaction: tx, block, ...call }
  },
  examples: {
    'fsp.tx-failed': failedExample,
    'fsp.tx-failed.recovered': { ...failedExample, reason: null, gasUsed: 41_200 },
  },
  ownExample: ({ target, example, observation }) => ({
    ...example,
    ...target,
    from: knownAddress('submit', target, observation),
    ...(!observation?.addresses && { role: 'identity' }),
  }),
})

export const TRANSACTION_SIGNALS = [txFailed] as const
