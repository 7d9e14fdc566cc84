import { createClient, custom, encodeFunctionResult } from 'viem'
import { expect, test } from 'vitest'
import { silentLogger } from '#src/kernel/logger.ts'
import { CONTRACT_REGISTRY_ABI, CONTRACT_REGISTRY_ADDRESS } from './contracts.ts'
import type { RpcClient } from './endpoints/endpoints.ts'
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

test('a registry is missing once every endpoint has none, which is logged once, until one has it', async () => {
  const has = { first: false, second: false }
  const clientOf = (name: keyof typeof has) => {
    const client = createClient({
      transport: custom({
        request: async () =>
          has[name]
            ? encodeFunctionResult({
                abi: CONTRACT_REGISTRY_ABI,
                functionName: 'getAllContracts',
                result: [['Submission'], [FIRST]],
              })
            : '0x',
      }),
    })
    return { ...client, transport: { url: name } } as unknown as RpcClient
  }
  let now = Date.UTC(2026, 10, 20)
  const errors: string[] = []
  const contracts = createContractAddresses({
    registry: CONTRACT_REGISTRY_ADDRESS,
    endpointCount: 2,
    clock: { now: () => new Date(now) },
    log: { ...silentLogger, error: (_: unknown, message: string) => void errors.push(message) },
  })
  const find = (name: keyof typeof has) => {
    now += 61_000
    return contracts.find(clientOf(name), 'Submission')
  }
  await expect(find('first')).rejects.toThrow('the list of contracts is empty')
  expect(contracts.isMissing()).toBe(false)
  for (const name of ['second', 'first', 'second'] as const)
    expect(await find(name)).toBeUndefined()
  expect(contracts.isMissing()).toBe(true)
  expect(errors).toEqual(['there are no contracts at the address of the registry'])
  has.second = true
  expect(await find('second')).toBe(FIRST)
  expect(contracts.isMissing()).toBe(false)
})
