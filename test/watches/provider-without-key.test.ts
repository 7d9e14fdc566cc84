import { zeroAddress, zeroHash } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entityTx } from '#sandbox/devnet/fsp/install.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** A provider that is registered without a sortition key cannot send fast updates. */

const SIGNALS = [{ id: 'fast-updates', enabled: true, parameters: { probability: 1e-3 } }]

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld([], {
    unwatched: ['Keyless', 'Mute'],
    isAlone: true,
  })
  for (const name of ['Keyless', 'Mute']) {
    await world.watch(name, SIGNALS)
    await world.behave(name, 'no-fast-updates')
  }
  const { accounts } = world.simulation().provider('Keyless')
  const keyless = { ...accounts, sortitionKey: { x: zeroHash, y: zeroHash } }
  const { to, data } = entityTx([keyless])
  const hash = await world.devnet.client.sendTransaction({
    account: zeroAddress,
    to,
    data,
    gas: 5_000_000n,
  })
  const { status } = await world.devnet.client.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
  await world.simulation().playToEpochEnd()
  await world.simulation().playRounds(2)
  await world.scan()
}, 60_000)
afterAll(() => world.close())

test('is left alone after an absence, through a node that prunes its states, while one with a key is reported', async () => {
  world.primary.behave({ stateBlocks: 32 })
  await world.simulation().playRounds(12, 40)
  world.restart()
  await world.scan()
  expect(await world.events('Keyless')).toEqual([])
  expect(await world.events('Mute')).toEqual(['fsp.fast-updates critical'])
})

test('is left alone while the service follows the chain', async () => {
  await world.simulation().playRounds(3, 20)
  await world.scan()
  expect(await world.events('Keyless')).toEqual([])
})
