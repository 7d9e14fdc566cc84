import { type Address, encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SET_UP_ABI } from '#sandbox/devnet/fsp/abi.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import { createRpc, type Rpc } from '../../examples/evidence/rpc.ts'
import { confirmedChanges, confirmedForms, type Evidence } from '../alerts/evidence-changes.ts'
import { twice, verify } from '../alerts/evidence-script.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/**
 * A fast update for more feeds than there are is a reason of the signal `fast-updates`, whether the contract accepts it
 * or not. The feeds of the chain are nine; its contract accepts updates for 16.
 */

const STAKE = 3_000_000_000
/** Only a silence that never happens here would be told. */
const SIGNALS = [{ id: 'fast-updates', enabled: true, parameters: { probability: 1e-15 } }]

let world: RoundWorld
let rpc: Rpc

beforeAll(async () => {
  const names = ['Anchor', 'Long', 'Refused', 'Right']
  world = await roundWorld([], { providers: names.map((name) => ({ name, stake: STAKE })) })
  rpc = createRpc(twice(world.devnet.rpcUrl))
  for (const name of names.slice(1)) await world.watch(name, SIGNALS)
  await play(2)
}, 120_000)
afterAll(() => world.close())

async function play(rounds: number): Promise<void> {
  await world.simulation().playRounds(rounds)
  await world.scan()
}

async function evidenceOf(
  name: string,
): Promise<Evidence & { readonly transactions: readonly object[] }> {
  const all = (await world.alerts(name)) as unknown as readonly { id: number; event: string }[]
  const alert = all.find(({ event }) => event === 'fsp.fast-updates')
  return (await world.alice.request('GET', `/alerts/${alert?.id}/evidence`)).body
}

function check(evidence: unknown) {
  return verify(evidence, rpc, world.devnet.contracts.registry)
}

test('updates that the contract accepts and refuses fire a warning with their length, and recover', async () => {
  await world.behave('Long', 'long-fast-updates')
  await world.behave('Refused', 'refused-fast-updates')
  await play(3)
  expect(await world.alerts('Right')).toEqual([])
  const long = { rule: 'too-long', feedCount: 9 }
  expect(await world.alerts('Long')).toMatchObject([
    {
      event: 'fsp.fast-updates',
      severity: 'warning',
      data: { ...long, feedsSent: 13, isAccepted: true },
    },
  ])
  expect((await world.alerts('Refused'))[0]).toMatchObject({
    event: 'fsp.fast-updates',
    severity: 'warning',
    data: { ...long, feedsSent: 17, isAccepted: false },
  })
})

test.each([
  'Long',
  'Refused',
])('the chain confirms the evidence about %s, and no figure of it can be changed unnamed', async (name) => {
  const evidence = await evidenceOf(name)
  expect(evidence.claim).toMatchObject({ kind: 'update', isAccepted: name === 'Long' })
  expect(await confirmedChanges(evidence, check)).toEqual([])
  expect(await confirmedForms(evidence, check)).toEqual([])
}, 120_000)

test('the chain refutes another provider, another outcome and another transaction', async () => {
  const evidence = await evidenceOf('Long')
  const refused = await evidenceOf('Refused')
  const forged = async (changes: Record<string, unknown>) => {
    const other = structuredClone(evidence)
    for (const [name, value] of Object.entries(changes)) {
      other.claim[name] = value
      other.data[name === 'transaction' ? 'tx' : name] = value
    }
    return (
      await check({ ...other, transactions: [...other.transactions, ...refused.transactions] })
    ).code
  }
  expect({
    provider: await forged({ provider: refused.claim['provider'] }),
    outcome: await forged({ isAccepted: false }),
    transaction: await forged({ transaction: refused.claim['transaction'] }),
    feeds: await forged({ feedsSent: 9, feedCount: 8 }),
  }).toEqual({ provider: 1, outcome: 1, transaction: 1, feeds: 1 })
}, 60_000)

test('the chain does not confirm an alert of later, or of an update that a stranger sent again', async () => {
  const evidence = await evidenceOf('Refused')
  const { client } = world.devnet
  const blockOf = async (number: bigint) => {
    const { hash, timestamp } = await client.getBlock({ blockNumber: number })
    return { number: Number(number), hash, at: new Date(Number(timestamp) * 1000).toISOString() }
  }
  await play(4)
  const last = await blockOf(await client.getBlockNumber())
  const later = { ...evidence, firedAt: last.at, blocks: { first: null, last } }
  const [sent] = evidence.transactions as readonly { input: Hex; receiver: Address }[]
  const { accounts } = world.simulation().provider('Right')
  const hash = await client.sendTransaction({
    account: accounts.identity.address,
    to: sent?.receiver,
    data: sent?.input,
    gas: 1_000_000n,
  })
  const { blockNumber } = await client.waitForTransactionReceipt({ hash })
  const again = await client.getTransaction({ hash })
  const place = await blockOf(blockNumber)
  const replayed = {
    ...evidence,
    firedAt: place.at,
    blocks: { first: null, last: place },
    claim: { ...evidence.claim, transaction: hash, block: place.number },
    data: { ...evidence.data, tx: hash, updateBlock: place.number },
    transactions: [
      {
        ...sent,
        hash,
        block: place.number,
        blockHash: place.hash,
        index: again.transactionIndex,
        sender: again.from,
      },
    ],
  }
  expect(await check(later)).toMatchObject({ code: 2, said: expect.stringContaining('before') })
  expect(await check(replayed)).toMatchObject({ code: 1, said: expect.stringContaining('anybody') })
}, 60_000)

test('an update for the feeds that there are is the recovery', async () => {
  await world.simulation().recover('Long')
  await world.simulation().recover('Refused')
  await play(3)
  for (const name of ['Long', 'Refused']) {
    const [newest] = (await world.alerts(name)).slice(-1)
    expect(newest).toMatchObject({ event: 'fsp.fast-updates.recovered' })
  }
  expect(await world.alerts('Right')).toEqual([])
})

test('the submission window is the contract’s, and a change of it counts from the next round on', async () => {
  const { client } = world.devnet
  const { identity } = world.simulation().provider('Right').accounts
  const stored = async () => {
    const [row] = await world.database
      .sql`select state->'submissionWindow' as blocks from fsp_progress`
    return row?.['blocks']
  }
  expect(await stored()).toBe(10)
  const abi = SET_UP_ABI.fastUpdater
  const args = [CONTRACTS.flareSystemsManager, 3, 9n] as const
  const data = encodeFunctionData({ abi, functionName: 'setUp', args })
  await client.sendTransaction({
    account: identity.address,
    to: CONTRACTS.fastUpdater,
    data,
    gas: 500_000n,
  })
  await play(2)
  expect(await stored()).toBe(3)
})
