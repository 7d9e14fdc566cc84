/** Checks each kind of claim. Every check returns what the chain says, or throws. */
import { membership, registration, vote } from './absence.ts'
import { type Check, isEqual, must, mustBeOf } from './claim.ts'
import { checkAge, EPOCH_SLACK, UPDATED, update } from './fast-updates.ts'
import type { ClaimOf, Kind } from './file.ts'
import { listing } from './p-chain.ts'
import { addressWord, numberOf, type Protocol, VIEWS } from './protocol.ts'
import { eligibility } from './published.ts'
import { unknownState } from './request.ts'
import { rewards } from './rewards.ts'
import { rate, round } from './round-claims.ts'
import { Refuted, Unchecked } from './rpc.ts'

const CALLED = [
  ...['Submission', 'Relay', 'FlareSystemsManager', 'VoterRegistry'],
  ...['VoterPreRegistry', 'EntityManager', 'FastUpdater'],
]
const VIRTUAL_PROVIDERS = 4096

const failedCall: Check<'failed-call'> = async (protocol, claim, { firedAt }) => {
  const { rpc } = protocol
  const { transaction: hash, sender, receiver, selector, gasUsed, gasLimit } = claim
  const block = await rpc.block(claim.block)
  await checkAge(protocol, { at: block.at, what: `${hash} was sent` }, firedAt)
  const found = block.transactions.find((transaction) => transaction.hash === hash)
  if (found === undefined) throw new Refuted(`block ${block.number} has no transaction ${hash}`)
  const receipt = await rpc.receipt(hash, block.number)
  must(receipt.isReverted, 'the transaction succeeded')
  const claimed = { sender, receiver, selector, gasUsed, gasLimit }
  const onChain = {
    sender: rpc.sender(found),
    receiver: found.to,
    selector: found.input.slice(0, 10),
    gasUsed: receipt.gasUsed,
    gasLimit: found.gas,
  }
  must(isEqual(onChain, claimed), `the chain says ${JSON.stringify(onChain)}`)
  const contracts = (
    await Promise.all(CALLED.map((name) => addressesOf(protocol, name, block.number)))
  ).flat()
  must(contracts.includes(receiver), 'it was sent to no contract of the protocol')
  const accounts = await accountsOf(protocol, claim.provider)
  if (!accounts.includes(sender)) {
    throw new Unchecked('it was reverted, but no contract says that its sender is the provider’s')
  }
  return `${hash} was reverted in block ${block.number}`
}

/** Addresses of a contract; none where the chain has no such contract. */
async function addressesOf(
  protocol: Protocol,
  name: string,
  block: number,
): Promise<readonly string[]> {
  try {
    return await protocol.contracts(name, block)
  } catch (error) {
    if (error instanceof Unchecked && error.message.startsWith('there is no contract')) return []
    throw error
  }
}

/** Accounts of a provider: its present ones, and those of the reward epoch in force and the one before. */
async function accountsOf(protocol: Protocol, voter: string): Promise<readonly string[]> {
  const entities = await protocol.contract('EntityManager')
  const own = (await protocol.view(entities, VIEWS.voterAddresses + addressWord(voter))) ?? []
  const manager = await protocol.contract('FlareSystemsManager')
  const epoch = numberOf((await protocol.view(manager, VIEWS.currentEpoch))?.[0])
  const policies = await Promise.all(
    [epoch, epoch - 1].map((policyEpoch) => protocol.policy(policyEpoch).catch(unknownState)),
  )
  const members = policies
    .flatMap((policy) => policy?.members ?? [])
    .filter((member) => member.voter === voter)
  const inForce = members.flatMap((member) => [
    member.submit,
    member.submitSignatures,
    member.signingPolicy,
  ])
  return [voter, ...own.map((account) => `0x${account.slice(24)}`), ...inForce]
}

const silence: Check<'silence'> = async (protocol, claim) => {
  const { rpc } = protocol
  const { provider: voter, rewardEpoch: epoch, blocksSinceUpdate: blocks, block: to } = claim
  const policy = await protocol.policy(epoch)
  const member = policy.members.find((member) => member.voter === voter)
  if (member === undefined) throw new Refuted('the provider is not in the signing policy')
  const last = claim.lastUpdateBlock ?? to - blocks
  must(blocks > 0, 'a silence of no block is none')
  const { first, length } = await protocol.clock()
  const round = Math.floor(((await rpc.block(to)).at - first) / length)
  await mustBeOf(protocol, epoch, round, EPOCH_SLACK)
  must(
    last >= 0 && to - last >= blocks,
    `there are only ${to - last} blocks from ${last + 1} to ${to}`,
  )
  const addresses = await protocol.contracts('FastUpdater', to)
  const signer = `0x${addressWord(member.signingPolicy)}`
  const filter = { addresses, topics: [[UPDATED], undefined, [signer]] }
  const [update] = await rpc.logs(filter, last + 1, to)
  must(update === undefined, `the provider sent a fast update in block ${update?.block}`)
  if (claim.lastUpdateBlock !== null) {
    must(
      (await rpc.logs(filter, last, last)).length > 0,
      `there is no fast update in block ${last}`,
    )
  }
  await checkChance(protocol, claim, {
    updater: addresses[0] ?? '',
    member,
    sum: policy.sumWithKeys,
  })
  if (to - last > blocks) {
    throw new Unchecked(
      `there is no fast update in ${to - last} blocks, not ${blocks}: the service left out some, or lies`,
    )
  }
  return `no fast update in the ${to - last} blocks from ${last + 1} to ${to}`
}

/** The figures of chance: weight, updates per block, and the rule that fired. */
async function checkChance(
  protocol: Protocol,
  claim: ClaimOf<'silence'>,
  {
    updater,
    member,
    sum,
  }: { updater: string; member: { weight: number; signingPolicy: string }; sum: number },
): Promise<void> {
  const { sortitionWeight: weight, sampleSize: claimed, blocksSinceUpdate: blocks } = claim
  const computed = Math.ceil((member.weight * VIRTUAL_PROVIDERS) / sum)
  if (weight !== computed) {
    const data = VIEWS.sortitionWeight + addressWord(member.signingPolicy)
    const [present] = (await protocol.view(updater, data)) ?? []
    must(numberOf(present) === weight, `its weight is ${computed} of ${VIRTUAL_PROVIDERS}`)
  }
  const incentives = await protocol.contract('FastUpdateIncentiveManager')
  const [size] = (await protocol.view(incentives, VIEWS.sampleSize)) ?? []
  const perBlock = Number(BigInt(`0x${size ?? '0'}`)) / 2 ** 120
  // Incentives change the number for some blocks; it may be the one of then.
  must(claimed > 0 && claimed <= 2 * perBlock, `${perBlock} updates are expected in a block`)
  const exponent = -weight * blocks * Math.log1p(-claimed / VIRTUAL_PROVIDERS)
  const claimedExponent = -Math.log(Number(claim.probability))
  // The weight may have changed during the silence, at the start of a reward epoch.
  must(
    Math.abs(claimedExponent - exponent) <= 0.1 + 0.1 * exponent,
    `the chance is ${Math.exp(-exponent)}`,
  )
  if (claim.rule === 'probability') {
    const { threshold } = claim
    must(threshold > 0 && threshold < 1, `${threshold} is no limit of a chance`)
    must(
      claimedExponent >= -Math.log(threshold) - 0.1,
      `${claim.probability} is not below ${threshold}`,
    )
  } else {
    const limit = claim.onePercentBlocks
    must(blocks >= limit, `${blocks} blocks are fewer than ${limit}`)
    await checkOnePercent(protocol, limit, claim.block)
  }
}

/** The number of blocks in 1 % of a reward epoch, by the pace of the last thousand blocks. */
async function checkOnePercent(protocol: Protocol, limit: number, to: number): Promise<void> {
  const manager = await protocol.contract('FlareSystemsManager')
  const seconds = numberOf((await protocol.view(manager, VIEWS.epochSeconds))?.[0])
  const from = Math.max(0, to - 1000)
  const pace =
    ((await protocol.rpc.block(to)).at - (await protocol.rpc.block(from)).at) / (to - from)
  const computed = seconds / pace / 100
  must(
    limit > computed / 2 && limit < computed * 2,
    `1 % of an epoch is about ${Math.round(computed)} blocks`,
  )
}

const balance: Check<'balance'> = async (protocol, claim) => {
  const block = await protocol.rpc.block(claim.block)
  const asked = [claim.address, `0x${block.number.toString(16)}`]
  const wei = BigInt(String(await protocol.rpc.call('eth_getBalance', asked)))
  must(wei === BigInt(claim.balanceWei), `it held ${wei} wei`)
  must(wei < BigInt(claim.limitWei), `${wei} wei are not below the limit`)
  const accounts = await accountsOf(protocol, claim.provider)
  if (!accounts.includes(claim.address)) {
    throw new Unchecked(
      'the balance was low, but no contract says that the address is the provider’s',
    )
  }
  return `${wei} wei at the end of block ${block.number}`
}

export const CHECKS: { readonly [K in Kind]: Check<K> } = {
  round,
  rate,
  'failed-call': failedCall,
  silence,
  update,
  registration,
  membership,
  balance,
  vote,
  eligibility,
  rewards,
  listing,
}
