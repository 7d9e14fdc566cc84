import { concatHex, encodeFunctionData, type Hex, isHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import forwarder from '#sandbox/contracts/Forwarder.json' with { type: 'json' }
import { flare } from '#sandbox/devnet/flare.ts'
import { ROUNDS_ABI } from '#sandbox/devnet/fsp/abi.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import { signedUpdate } from '#sandbox/devnet/fsp/fast-updates.ts'
import { SUBMIT_UPDATES_SELECTOR } from '#sandbox/devnet/fsp/install.ts'
import { registration } from '#sandbox/devnet/fsp/votes.ts'
import type { Address } from '#src/kernel/units.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** Failures that begin and end between the ends of two rounds are notified too. */

/** Stake with which ten blocks without an update are unlikely. */
const HEAVY = 3_000_000_000
const SILENCE = [{ id: 'fast-updates', enabled: true, parameters: { probability: 1e-4 } }]
const MINUTES = 18
const REGISTRATION = [{ id: 'registration', enabled: true, parameters: { minutes: MINUTES } }]

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld([], {
    providers: [
      { name: 'Anchor', stake: HEAVY },
      { name: 'Heavy', stake: HEAVY },
      { name: 'Late' },
    ],
  })
  await world.watch('Heavy', SILENCE)
  await world.watch('Late', REGISTRATION)
  await world.behave('Heavy', 'no-fast-updates')
  await world.simulation().playRounds(2)
  await world.scan()
}, 60_000)
afterAll(() => world.close())

const heard = new Map<string, number>()
async function news(name: string): Promise<readonly string[]> {
  const events = await world.events(name)
  const fresh = events.slice(heard.get(name) ?? 0)
  heard.set(name, events.length)
  return fresh
}

/** Start of the next simulated round, epoch seconds. */
function begins(): number {
  const { round, timing } = world.simulation()
  return timing.firstRoundStart + round * timing.roundSeconds
}

/** The next block, at a time, with a transaction in it. */
async function block(at: number, from: Address, to: Address, data: Hex): Promise<void> {
  const { client } = world.devnet
  await client.setNextBlockTimestamp({ timestamp: BigInt(at) })
  const hash = await client.sendTransaction({ account: from, to, data, gas: 1_000_000n })
  const { status } = await client.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
}

async function update(): Promise<Hex> {
  const { accounts } = world.simulation().provider('Heavy')
  return signedUpdate(accounts, Number(await world.devnet.client.getBlockNumber()))
}

async function throughSubmission(at: number): Promise<void> {
  const args = [await update()] as const
  const data = encodeFunctionData({ abi: ROUNDS_ABI, functionName: 'submitAndPass', args })
  const [sender] = world.simulation().provider('Heavy').accounts.fastUpdates
  if (sender === undefined) throw new Error('nobody sends')
  await block(at, sender.address, CONTRACTS.submission, data)
}

async function silence(): Promise<Record<string, unknown>> {
  const heavy = world.simulation().provider('Heavy').accounts.identity.address
  const [row] = await world.sql`
    select providers -> ${heavy} -> 'fastUpdates' as silence from fsp_rounds order by round desc limit 1`
  return row?.['silence']
}

test('a silence that ends in the block that completes the round fires an alert, and recovers', async () => {
  await news('Heavy')
  const first = begins()
  await throughSubmission(first + 1)
  await world.simulation().playRounds(1)
  await world.scan()
  await news('Heavy')
  const start = begins()
  await world.simulation().playTo(start + 3, { inFull: true })
  await throughSubmission(start + 5)
  await world.simulation().playTo(start + 20, { inFull: true })
  await world.scan()
  await news('Heavy')
  await world.devnet.mine(26, 1)
  await world.simulation().playTo(start + 89, { inFull: true })
  await throughSubmission(start + 90)
  await world.simulation().playTo(start + 100, { inFull: true })
  await world.scan()
  expect(await news('Heavy')).toEqual([
    'fsp.fast-updates critical',
    'fsp.fast-updates.recovered info',
  ])
  const [alert] = (await world.alerts('Heavy')).slice(-2)
  expect(Number(alert?.data['blocksSinceUpdate'])).toBeGreaterThan(25)
})

test('moments between two rounds are observed, wherever the previous scan ended', async () => {
  const provider = world.simulation().provider('Heavy').accounts.identity.address
  const { rounds } = world.running().facts
  const [row] = await world.sql`
    select block_number as block, (providers -> ${provider} -> 'between' -> -1 ->> 'block')::int as moment
    from fsp_rounds where providers -> ${provider} -> 'between' is not null order by round desc limit 1`
  const [moment, upTo] = [Number(row?.['moment']), Number(row?.['block'])]
  expect(moment).toBeLessThan(upTo)
  for (const after of [moment - 1, moment]) {
    const [seen] = await rounds.observations([{ provider, isNew: false }], { after, upTo })
    expect(seen?.map(({ position }) => position)).toEqual([moment, upTo])
  }
})

test('a damaged record has unknown verdicts, and the records of other providers are read', async () => {
  const { simulation } = world
  const [damaged, whole] = ['Heavy', 'Late'].map(
    (name) => simulation().provider(name).accounts.identity.address,
  )
  if (damaged === undefined || whole === undefined) throw new Error('there are no providers')
  const { rounds } = world.running().facts
  const read = async () => {
    const requests = [damaged, whole].map((provider) => ({ provider, isNew: true }))
    const [first, second] = await rounds.observations(requests, { after: null, upTo: 1e9 })
    return [first?.[0]?.checks, second?.[0]?.checks]
  }
  const [, before] = await read()
  expect(before?.commit).toMatchObject({ verdict: 'good' })
  const damage = (providers: unknown) => world.sql`
    update fsp_rounds set providers = ${world.sql.json(providers as never)}
    where round = (select max(round) from fsp_rounds)`
  const [row] = await world.sql`select providers from fsp_rounds order by round desc limit 1`
  const { providers } = row ?? {}
  await damage({ ...providers, [damaged]: { ...providers[damaged], policy: 'half' } })
  const [unknown, after] = await read()
  await damage(providers)
  expect(unknown?.commit).toEqual({ verdict: 'unknown' })
  expect(after).toEqual(before)
})

test.each(['directly', 'through a contract'])('an update that is sent %s counts', async (way) => {
  await world.simulation().playRounds(2)
  await world.scan()
  const { client, people } = world.devnet
  const stranger = people.alice.account.address
  const data = concatHex([SUBMIT_UPDATES_SELECTOR, await update()])
  if (way === 'directly') await block(begins() + 1, stranger, CONTRACTS.fastUpdater, data)
  else {
    if (!isHex(forwarder.bytecode)) throw new Error('not a compiled contract')
    const made = await client.sendTransaction({ account: stranger, data: forwarder.bytecode })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash: made })
    const args = [
      CONTRACTS.fastUpdater,
      concatHex([SUBMIT_UPDATES_SELECTOR, await update()]),
    ] as const
    const abi = forwarder.abi
    const call = encodeFunctionData({ abi, functionName: 'forward', args })
    await block(begins() + 2, stranger, contractAddress as Address, call)
  }
  const sent = Number(await client.getBlockNumber())
  await world.simulation().playRounds(2)
  await world.scan()
  expect(await silence()).toMatchObject({ lastUpdateBlock: sent })
})

test('a registration that is 40 seconds late, between two rounds, fires an alert, and recovers', async () => {
  await world.behave('Late', 'unregistered')
  await world.simulation().playToRegistration()
  await world.scan()
  const since = world.simulation().registrationSince ?? 0
  const due = since + MINUTES * 60
  const { timing, rewardEpoch } = world.simulation()
  const second = (at: number) => (at - timing.firstRoundStart) % timing.roundSeconds
  // It is due after the end of the previous round and arrives before the end of its own.
  expect(second(due)).toBeLessThan(10)
  await world.simulation().playTo(due + 38, { inFull: true })
  const { accounts } = world.simulation().provider('Late')
  const { from, to, data } = registration(
    accounts,
    rewardEpoch + 1,
    flare.id,
    CONTRACTS.voterRegistry,
  )
  await block(due + 40, from, to, data)
  await world.simulation().playTo(due + 4 * 60, { inFull: true })
  await world.scan()
  expect(await news('Late')).toEqual([
    'fsp.registration critical',
    'fsp.registration.recovered info',
  ])
})
