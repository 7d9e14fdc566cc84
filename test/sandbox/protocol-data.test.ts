import { parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import { nodeIdText } from '#sandbox/devnet/fsp/encode.ts'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { type ProtocolData, startProtocolData } from '#sandbox/world/protocol-data.ts'
import { systemClock } from '#src/kernel/clock.ts'

/** Data published beside the chain, at the URLs of the settings. */

const EPOCH = 452
const MANAGER = parseAbi(['function rewardsHash(uint256) view returns (bytes32)'])

let devnet: DevnetWithContracts
let simulation: ProviderSimulation
let data: ProtocolData

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: new Date('2026-11-20T12:00:00Z') })
  simulation = await createProviderSimulation(devnet, {
    providers: ['Alpha', 'Bravo', 'Charlie'].map((name) => ({ name })),
  })
  data = await startProtocolData({ simulation, clock: systemClock })
})
afterAll(async () => {
  await data?.close()
  await devnet?.close()
})

const passesOf = (epoch: number) => fetch(data.passesUrl.replace('{epoch}', `${epoch}`))
const rewardsOf = (epoch: number) =>
  fetch(`${data.rewardsUrl}${epoch}/reward-distribution-data.json`)

async function validators(...nodeIDs: readonly string[]) {
  const response = await fetch(`${data.pChainUrl}/ext/bc/P`, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'platform.getCurrentValidators',
      params: nodeIDs.length === 0 ? {} : { nodeIDs },
    }),
  })
  return response.json()
}

test('the data of an epoch is published some hours after its end, and not before', async () => {
  expect((await passesOf(EPOCH - 1)).status).toBe(200)
  expect((await rewardsOf(EPOCH - 1)).status).toBe(200)
  expect((await passesOf(EPOCH)).status).toBe(404)
  expect((await rewardsOf(EPOCH)).status).toBe(404)
  await simulation.playToEpochEnd()
  expect((await rewardsOf(EPOCH)).status).toBe(404)
  await simulation.playToPublication()
  expect((await passesOf(EPOCH)).status).toBe(200)
  expect((await rewardsOf(EPOCH)).status).toBe(200)
})

test('the rewards are those that are voted for, with the claims of each provider', async () => {
  const rewards = await (await rewardsOf(EPOCH)).json()
  const merkleRoot = await devnet.client.readContract({
    address: CONTRACTS.flareSystemsManager,
    abi: MANAGER,
    functionName: 'rewardsHash',
    args: [BigInt(EPOCH)],
  })
  expect(rewards).toMatchObject({ rewardEpochId: EPOCH, network: 'flare', merkleRoot })
  const { identity, signingPolicy } = simulation.provider('Alpha').accounts
  const body = (address: string, claimType: number, amount: string) => ({
    body: { rewardEpochId: EPOCH, beneficiary: address.toLowerCase(), claimType, amount },
  })
  expect(rewards.rewardClaims).toHaveLength(6)
  expect(rewards.rewardClaims.slice(0, 2)).toMatchObject([
    body(signingPolicy.address, 0, `250${'0'.repeat(18)}`),
    body(identity.address, 1, `1500${'0'.repeat(18)}`),
  ])
})

test('every provider is eligible, except with a behaviour against it', async () => {
  const eligible = async (epoch: number) => {
    const rows: { dataProviderName: string; eligibleForReward: boolean }[] = await (
      await passesOf(epoch)
    ).json()
    return rows.filter((row) => row.eligibleForReward).map((row) => row.dataProviderName)
  }
  expect(await eligible(EPOCH)).toEqual(['Alpha', 'Bravo', 'Charlie'])
  await simulation.behave('Alpha', 'not-eligible')
  expect(await eligible(EPOCH)).toEqual(['Bravo', 'Charlie'])
  expect(await eligible(EPOCH - 1)).toEqual(['Alpha', 'Bravo', 'Charlie'])
  const [alpha] = await (await passesOf(EPOCH)).json()
  expect(alpha).toEqual({
    rewardEpochId: EPOCH,
    dataProviderName: 'Alpha',
    eligibleForReward: false,
    voterAddress: simulation.provider('Alpha').accounts.identity.address.toLowerCase(),
    passes: 0,
    failures: [{ protocolId: 100, failureId: 'FTSO_SCALING_FAILURE' }],
  })
  await simulation.recover('Alpha')
})

test('unchanged data is not sent again (304)', async () => {
  const first = await passesOf(EPOCH)
  const etag = first.headers.get('etag') ?? ''
  const url = data.passesUrl.replace('{epoch}', `${EPOCH}`)
  const again = () => fetch(url, { headers: { 'if-none-match': etag } })
  expect((await again()).status).toBe(304)
  await simulation.behave('Bravo', 'not-eligible')
  expect((await again()).status).toBe(200)
  await simulation.recover('Bravo')
})

test('validators are listed by their nodes; a removed validator is absent', async () => {
  const node = (name: string) => nodeIdText(simulation.provider(name).accounts.nodeIds[0] ?? '0x')
  const ids = async (...asked: readonly string[]) => {
    const { result } = await validators(...asked)
    return result.validators.map((validator: { nodeID: string }) => validator.nodeID)
  }
  expect(await ids()).toEqual(['Alpha', 'Bravo', 'Charlie'].map(node))
  expect(await ids(node('Bravo'), 'NodeID-nobody')).toEqual([node('Bravo')])
  await simulation.behave('Alpha', 'validator-gone')
  await simulation.behave('Bravo', 'validator-offline')
  expect(await ids(node('Alpha'))).toEqual([])
  expect(await validators(node('Bravo'))).toMatchObject({
    jsonrpc: '2.0',
    id: 7,
    result: { validators: [{ nodeID: node('Bravo'), connected: false }] },
  })
})

test('other paths are not found', async () => {
  const { status } = await fetch(`${data.rewardsUrl}${EPOCH}/passes.txt`)
  expect(status).toBe(404)
  const response = await fetch(`${data.pChainUrl}/ext/bc/P`, { method: 'POST', body: 'no JSON' })
  expect(response.status).toBe(400)
})
