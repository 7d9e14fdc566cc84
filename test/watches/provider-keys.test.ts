import { getAddress, numberToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entityTx } from '#sandbox/devnet/fsp/install.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/**
 * A provider with newly registered addresses is judged by those of the policy in force until its
 * end.
 */

const FUNDED = 100_000n * 10n ** 18n
const SIGNALS = [
  { id: 'fast-updates', enabled: true, parameters: { probability: 1e-4 } },
  { id: 'balance-low', enabled: true },
]

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld([], { providers: [{ name: 'Anchor' }, { name: 'Alpha' }] })
  await world.watch('Alpha', SIGNALS)
  await world.simulation().playRounds(2)
  await world.scan()
}, 60_000)
afterAll(() => world.close())

const play = async (rounds: number) => {
  await world.simulation().playRounds(rounds)
  await world.scan()
}

/** Sets other accounts for Alpha; it still uses the old ones, as required until the epoch ends. */
async function nameOthers(first: number): Promise<void> {
  const { accounts } = world.simulation().provider('Alpha')
  const other = (place: number) => {
    const address = getAddress(numberToHex(first + place, { size: 20 }))
    return { ...accounts.submit, address }
  }
  const named = {
    ...accounts,
    submit: other(0),
    submitSignatures: other(1),
    signingPolicy: other(2),
  }
  for (const { address } of [named.submit, named.submitSignatures, named.signingPolicy]) {
    await world.devnet.setBalance(address, FUNDED)
  }
  const { to, data } = entityTx([named])
  const hash = await world.devnet.client.sendTransaction({
    account: zeroAddress,
    to,
    data,
    gas: 5_000_000n,
  })
  const { status } = await world.devnet.client.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
}

test('an announced change of addresses causes no alert of silence or of a low balance', async () => {
  await nameOthers(0xa1fa00)
  await play(12)
  expect(await world.events('Alpha')).toEqual([])
})

test('the silence of the address in force fires an alert', async () => {
  await world.behave('Alpha', 'no-fast-updates')
  await play(8)
  expect(await world.events('Alpha')).toEqual(['fsp.fast-updates critical'])
  await world.simulation().recover('Alpha')
  await play(4)
  expect((await world.events('Alpha')).slice(1)).toEqual(['fsp.fast-updates.recovered info'])
})

test('a low balance of the account in force fires an alert', async () => {
  await world.behave('Alpha', 'low-balance')
  await play(2)
  const [low] = (await world.alerts('Alpha')).slice(2)
  expect(low).toMatchObject({ event: 'fsp.balance-low', severity: 'critical' })
  const { accounts } = world.simulation().provider('Alpha')
  expect(JSON.stringify(low?.data)).toContain(accounts.submit.address)
})
