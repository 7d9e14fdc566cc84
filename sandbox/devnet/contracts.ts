import { encodeFunctionData, type Hex } from 'viem'
import type { Address, Hash } from '#src/kernel/units.ts'
import {
  type ContractPlaces,
  mintData,
  ROUTER_ABI,
  setAllowedData,
  setFeedData,
  TOKEN_ABI,
} from './deployment.ts'
import type { Mined, Outgoing, Send } from './sending.ts'

/** The router, tokens and stand-ins for Flare's own contracts, and what can be done with them. */
export interface DevnetContracts extends ContractPlaces {
  /**
   * Approves the router for the amount and pays through it. Answers the payment, failed or not: what
   * is wrong with it is for the router to say.
   */
  pay(from: Address, handle: Hash, token: Address, amountUnits: bigint): Promise<Mined>
  /** Sends coins, with data if there is any. */
  sendNative(from: Address, to: Address, wei: bigint, data?: Hex): Promise<Mined>
  /** Makes more of a token out of nothing. */
  mint(token: Address, to: Address, amountUnits: bigint): Promise<Mined>
  /**
   * Says what a feed such as `FLR/USD` is worth: `value / 10 ** decimals` US dollars, since `at`. Without
   * `at` the feed is fresh whenever it is read.
   */
  setFeed(name: string, value: bigint, decimals: number, at?: Date): Promise<Mined>
  /** Says whether the router takes a token. */
  setAllowed(token: Address, on: boolean): Promise<Mined>
  /** Makes the router refuse payments, or take them again. */
  setPaused(on: boolean): Promise<Mined>
}

/** Everything that can be done with deployed contracts. */
export function useContracts(places: ContractPlaces, send: Send): DevnetContracts {
  const { operator, router, ftsoV2 } = places
  const one = async (...transactions: readonly Outgoing[]) => {
    const last = (await send(...transactions)).at(-1)
    if (last === undefined) throw new Error('nothing was sent')
    return last
  }
  return {
    ...places,
    pay: (from, handle, token, amountUnits) => {
      const approval = { functionName: 'approve', args: [router, amountUnits] } as const
      const payment = { functionName: 'pay', args: [handle, token, amountUnits] } as const
      return one(
        { from, to: token, data: encodeFunctionData({ abi: TOKEN_ABI, ...approval }) },
        { from, to: router, data: encodeFunctionData({ abi: ROUTER_ABI, ...payment }) },
      )
    },
    sendNative: (from, to, value, data = '0x') => one({ from, to, value, data }),
    mint: (token, to, amountUnits) =>
      one({ from: operator, to: token, data: mintData(to, amountUnits) }),
    setFeed: (name, value, decimals, at) =>
      one({ from: operator, to: ftsoV2, data: setFeedData({ name, value, decimals, at }) }),
    setAllowed: (token, on) => one({ from: operator, to: router, data: setAllowedData(token, on) }),
    setPaused: (on) => {
      const call = { functionName: 'setPaused', args: [on] } as const
      return one({
        from: operator,
        to: router,
        data: encodeFunctionData({ abi: ROUTER_ABI, ...call }),
      })
    },
  }
}
