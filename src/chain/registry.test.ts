import { createClient, custom, encodeFunctionResult } from 'viem'
import { expect, test } from 'vitest'
import { silentLogger } from '#src/kernel/logger.ts'
import { CONTRACT_REGISTRY_ABI, CONTRACT_REGISTRY_ADDRESS } from './contracts.ts'
import type { RpcClient } from './endpoints.ts'
import { createContractAddresses } from './registry.ts'

const FIRST = '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f'
const SECOND = '0x18b9306737eaf6E8FC8e737F488a1AE077b18053'

/** Lookups of a registry that names one contract; counts its readings. */
function lookups() {
  const state = { now: Date.UTC(2026, 10, 20), address: FIRST, readings: 0 }
  const client = createClient({
    transport: custom({
      request: async () => {
        state.readings += 1
        return encodeFunctionResult({
          abi: CONTRACT_REGISTRY_ABI,
          functionName: 'getAllContracts',
          result: [['Submission'], [state.address as `0x${string}`]],
        })
      },
    }),
  }) as unknown as RpcClient
  const contracts = createContractAddresses({
    registry: CONTRACT_REGISTRY_ADDRESS,
    endpointCount: 1,
    clock: { now: () => new Date(state.now) },
    log: silentLogger,
  })
  return { state, contracts, all: () => contracts.all(client, 'Submission') }
}

test('the registry is read again when a contract may have moved, at most once a minute', async () => {
  const { state, contracts, all } = lookups()
  expect(await all()).toEqual([FIRST])
  state.address = SECOND
  expect(await all()).toEqual([FIRST])
  expect(contracts.suspectMove()).toBe(true)
  expect(await all()).toEqual([SECOND, FIRST])
  for (let second = 0; second < 59; second += 1) {
    state.now += 1000
    expect(contracts.suspectMove()).toBe(false)
    await all()
  }
  expect(state.readings).toBe(2)
  state.now += 1000
  expect(contracts.suspectMove()).toBe(true)
  await all()
  expect(state.readings).toBe(3)
})

test('the registry can be read again after the clock was set back', () => {
  const { state, contracts } = lookups()
  expect(contracts.suspectMove()).toBe(true)
  state.now -= 86_400_000
  expect(contracts.suspectMove()).toBe(true)
})
