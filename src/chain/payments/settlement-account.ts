/** The account that sends the transfers that payers authorized. It pays the gas. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Hex, keccak256, numberToHex } from 'viem'
import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import { createWorkLimiter } from '#src/kernel/work-limiter.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { isExecutionFailure, rpcErrorOf } from '../endpoints/failures.ts'
import { Quantity } from '../endpoints/schemas.ts'

/** A call of a contract. */
interface Call {
  readonly to: Address
  readonly data: Hex
}

const requirePackage = createRequire(import.meta.url)

/** Sends transactions from one account. */
export interface SettlementAccount {
  readonly address: Address
  /**
   * Whether the call would succeed now.
   * @throws AppError upstream `dependency_unavailable`
   */
  wouldSucceed(call: Call, signal?: AbortSignal): Promise<boolean>
  /**
   * Signs and sends the call, to every endpoint. That a transaction was sent proves nothing: the chain does.
   *
   * @returns its hash
   * @throws AppError upstream `settlement_unavailable` when the account cannot pay the gas, the gas is too expensive, or
   * every endpoint refuses the transaction; `dependency_unavailable` when no endpoint tells what the transaction needs.
   * Nothing was sent then.
   */
  send(call: Call, signal?: AbortSignal): Promise<Hash>
}

/** Gas limit of a call beyond the estimate, in tenths; and the highest limit. A transfer takes less than 100,000. */
const GAS_TENTHS = 13n
const GAS_MAX = 500_000n
/**
 * Highest fee of one transaction: one whole coin, about two cents. An endpoint may state any price of gas, and the
 * account must not be emptied by it.
 */
const FEE_MAX_WEI = 10n ** 18n
/** The price may double before the transaction is in a block. */
const PRICE_TIMES = 2n
/** A transaction of another process can have the same nonce of the account. */
const TRIES = 4
/** Transactions are sent one after the other, because each has the next nonce. */
const TURNS = { runningMax: 1, waitingMax: 50, waitMs: 15_000 } as const
const TAKEN_NONCE = /nonce too low|replacement transaction underpriced|already imported/i
const IS_KNOWN = /already known|known transaction/i

/** Creates the account of a private key. Long because sending shares the account and its turns. */
export function createSettlementAccount({
  endpoints,
  key,
  chainId,
}: {
  readonly endpoints: Endpoints
  readonly key: Hex
  readonly chainId: number
}): SettlementAccount {
  // Loaded by services that have such an account only, with lists of words that it does not need.
  const { privateKeyToAccount }: typeof import('viem/accounts') = requirePackage(
    fileURLToPath(import.meta.resolve('viem/accounts')),
  )
  const account = privateKeyToAccount(key)
  const turns = createWorkLimiter({ ...TURNS, refusal: unavailable })

  async function prepare(client: RpcClient, call: Call) {
    const ask = async (method: string, params: readonly unknown[]) =>
      Quantity.parse(await client.request({ method, params } as never))
    const { address } = account
    const [nonce, estimate, price, balance] = await Promise.all([
      ask('eth_getTransactionCount', [address, 'pending']),
      ask('eth_estimateGas', [{ from: address, ...call }]).catch((error: unknown) => {
        if (isExecutionFailure(error)) return undefined
        throw error
      }),
      ask('eth_gasPrice', []),
      ask('eth_getBalance', [address, 'latest']),
    ])
    // It would have succeeded a moment ago.
    if (estimate === undefined) return undefined
    const tip = await ask('eth_maxPriorityFeePerGas', []).catch(() => 0n)
    const maxFeePerGas = price * PRICE_TIMES
    const gas = min((estimate * GAS_TENTHS) / 10n, GAS_MAX)
    const feeWei = gas * maxFeePerGas
    return { ...call, nonce: Number(nonce), gas, maxFeePerGas, tip, feeWei, balance }
  }

  async function sendOnce(call: Call, signal?: AbortSignal): Promise<Hash | undefined> {
    const prepared = await endpoints.ask((client) => prepare(client, call), signal)
    if (prepared === undefined) throw unavailable()
    const { feeWei, balance, tip, ...fields } = prepared
    if (feeWei > FEE_MAX_WEI || feeWei > balance) throw unavailable()
    const maxPriorityFeePerGas = min(tip, fields.maxFeePerGas)
    const raw = await account.signTransaction({
      ...{ ...fields, maxPriorityFeePerGas, chainId, type: 'eip1559' },
    })
    const answers = await endpoints.askEach((client) => broadcast(client, raw), signal)
    // An endpoint that does not answer may have it, too.
    const isRefused = answers.length > 0 && !answers.includes('accepted')
    if (!isRefused) return keccak256(raw)
    if (answers.includes('taken')) return undefined
    throw unavailable()
  }

  return {
    address: account.address,
    wouldSucceed: (call, signal) =>
      endpoints.ask(async (client) => {
        try {
          const params = [{ from: account.address, ...call, gas: numberToHex(GAS_MAX) }, 'latest']
          await client.request({ method: 'eth_call', params } as never)
          return true
        } catch (error) {
          if (isExecutionFailure(error)) return false
          throw error
        }
      }, signal),
    send: (call, signal) =>
      turns.take(async () => {
        for (let attempt = 0; attempt < TRIES; attempt += 1) {
          const hash = await sendOnce(call, signal)
          if (hash !== undefined) return hash
        }
        throw unavailable()
      }, signal),
  }
}

/** What an endpoint says of a transaction that it gets; `taken`: the account has used its nonce. */
async function broadcast(client: RpcClient, raw: Hex): Promise<'accepted' | 'taken' | 'refused'> {
  try {
    z.string().parse(await client.request({ method: 'eth_sendRawTransaction', params: [raw] }))
    return 'accepted'
  } catch (error) {
    const answer = rpcErrorOf(error)
    if (answer === undefined) throw error
    if (IS_KNOWN.test(answer.details)) return 'accepted'
    return TAKEN_NONCE.test(answer.details) ? 'taken' : 'refused'
  }
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function unavailable(): AppError {
  return new AppError('upstream', 'settlement_unavailable')
}
