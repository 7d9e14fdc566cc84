import { encodeFunctionData, type Hex } from 'viem'
import type { Address, Hash } from '#src/kernel/units.ts'
import {
  mintData,
  type PaymentContractAddresses,
  ROUTER_ABI,
  setAllowedData,
  setFeedData,
  TOKEN_ABI,
} from './deployment.ts'
import type { MinedTransaction, SendTransactions, TransactionToSend } from './sending.ts'

/** The router, tokens and mocks of Flare's contracts, with their actions. */
export interface DevnetContracts extends PaymentContractAddresses {
  /**
   * Approves the router for the amount and pays through it. Returns the transaction of the payment, also if it
   * was reverted.
   */
  pay(from: Address, handle: Hash, token: Address, amountUnits: bigint): Promise<MinedTransaction>
  /** Sends coins, optionally with data. */
  sendNative(from: Address, to: Address, wei: bigint, data?: Hex): Promise<MinedTransaction>
  /** Mints a token. */
  mint(token: Address, to: Address, amountUnits: bigint): Promise<MinedTransaction>
  /**
   * Sets a feed's price, such as that of `FLR/USD`: `value / 10 ** decimals` US dollars, since `at`.
   * Without `at` the feed is always fresh.
   */
  setFeed(name: string, value: bigint, decimals: number, at?: Date): Promise<MinedTransaction>
  /** Sets whether the router accepts a token. */
  setAllowed(token: Address, on: boolean): Promise<MinedTransaction>
  /** Pauses or unpauses the router. */
  setPaused(on: boolean): Promise<MinedTransaction>
}

/** Actions on the router, the tokens and the mocks, which are deployed already. */
export function createPaymentContractActions(
  addresses: PaymentContractAddresses,
  send: SendTransactions,
): DevnetContracts {
  const { operator, router, ftsoV2 } = addresses
  const sendAll = async (...transactions: readonly TransactionToSend[]) => {
    const last = (await send(...transactions)).at(-1)
    if (last === undefined) throw new Error('nothing was sent')
    return last
  }
  return {
    ...addresses,
    pay: (from, handle, token, amountUnits) => {
      const approval = { functionName: 'approve', args: [router, amountUnits] } as const
      const payment = { functionName: 'pay', args: [handle, token, amountUnits] } as const
      return sendAll(
        { from, to: token, data: encodeFunctionData({ abi: TOKEN_ABI, ...approval }) },
        { from, to: router, data: encodeFunctionData({ abi: ROUTER_ABI, ...payment }) },
      )
    },
    sendNative: (from, to, value, data = '0x') => sendAll({ from, to, value, data }),
    mint: (token, to, amountUnits) =>
      sendAll({ from: operator, to: token, data: mintData(to, amountUnits) }),
    setFeed: (name, value, decimals, at) =>
      sendAll({ from: operator, to: ftsoV2, data: setFeedData({ name, value, decimals, at }) }),
    setAllowed: (token, on) =>
      sendAll({ from: operator, to: router, data: setAllowedData(token, on) }),
    setPaused: (on) => {
      const call = { functionName: 'setPaused', args: [on] } as const
      return sendAll({
        from: operator,
        to: router,
        data: encodeFunctionData({ abi: ROUTER_ABI, ...call }),
      })
    },
  }
}
