import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SET_UP_ABI } from '#sandbox/devnet/fsp/abi.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import type { Address } from '#src/kernel/units.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** The Submission contract moves while the registry's entries are cached: providers use the new one at once. */

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(['Healthy'])
  await nameSubmission(CONTRACTS.oldSubmission)
  world.restart()
  await world.scan()
  await world.scan()
}, 60_000)
afterAll(() => world.close())

/** Sets the registry's entry, and leaves the others. */
async function nameSubmission(address: Address): Promise<void> {
  const { client, contracts, people } = world.devnet
  const [names, addresses] = await client.readContract({
    address: contracts.registry,
    abi: parseAbi(['function getAllContracts() view returns (string[], address[])']),
    functionName: 'getAllContracts',
  })
  const others = names.map((name, place) => (name === 'Submission' ? address : addresses[place]))
  const data = encodeFunctionData({
    abi: SET_UP_ABI.registry,
    args: [[...names], others.map((contract) => contract ?? address)],
  })
  const account = people.alice.account.address
  const hash = await client.sendTransaction({ account, to: contracts.registry, data })
  const { status } = await client.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
}

test('submissions to a contract that became the present one are seen at once', async () => {
  const before = world.clock.now().getTime()
  await nameSubmission(CONTRACTS.submission)
  await world.simulation().playRounds(5)
  await world.scan()
  // The cached entries would be used for ten minutes.
  expect(world.clock.now().getTime() - before).toBeLessThan(600_000)
  expect(await world.events('Healthy')).toEqual([])
  const { identity } = world.simulation().provider('Healthy').accounts
  const path = `/provider-fsp?provider=${identity.address}&rounds=2`
  const { body } = await world.alice.request('GET', path)
  const all = { commit: 'ok', reveal: 'ok', signature: 'ok' }
  expect(body.rounds.map(({ ftso }: { readonly ftso: object }) => ftso)).toEqual([all, all])
})
