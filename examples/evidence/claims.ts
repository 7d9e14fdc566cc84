/** Checks each kind of claim. Every check returns what the chain says, or throws. */
import { type Check, type Claim, isEqual, must, mustBeOf, number, text, whole } from './claim.ts'
import { EPOCH_SLACK, UPDATED, update } from './fast-updates.ts'
import { listing } from './p-chain.ts'
import { addressWord, numberOf, type Protocol, VIEWS, word } from './protocol.ts'
import { eligibility } from './published.ts'
import { rewards } from './rewards.ts'
import { rate, round } from './round-claims.ts'
import { Refuted, Unchecked } from './rpc.ts'

const REGISTERED = [
  '0xbfb6cd90b6e2668916d9e034926c84f40bcf94094b0d625ec8eecfdeb2150ae1',
  '0x824bc2cc10bfe21ead60b8c8a90716eb325b9335aa73eaede799abf38fce062c',
]
const REMOVED = [
  '0xc68883244ac4be6ff6d4b0bf9c8f4cc0fa21af3cf2921443c1bd0af0683cfcf6',
  '0x98a7f87f8e2aa2f23f43769eff67782bb12946384b142d1ce1e8e38e05d9a3e6',
]
const SIGNED: Readonly<Record<string, string>> = {
  uptime: '0x5506337d1266599f8b64675a1c8321701657ca2f2f70be0e0c58302b6c22e797',
  rewards: '0x81b5504045130d3b82498ff414ad58271e85bbde420cc85aa66d91eff9af30fb',
}
const CALLED = [
  ...['Submission', 'Relay', 'FlareSystemsManager', 'VoterRegistry'],
  ...['VoterPreRegistry', 'EntityManager', 'FastUpdater'],
]
const VIRTUAL_PROVIDERS = 4096

const failedCall: Check = async ({ rpc, ...protocol }, claim) => {
  const hash = text(claim, 'transaction')
  const found = (await rpc.call('eth_getTransactionByHash', [hash])) as Record<
    string,
    string
  > | null
  if (found === null) throw new Unchecked(`the endpoint has no transaction ${hash}`)
  const block = await rpc.block(Number(found['blockNumber']))
  const inside = block.transactions.find((transaction) => transaction.hash.toLowerCase() === hash)
  if (inside === undefined) throw new Refuted('it is in another block')
  const receipt = await rpc.receipt(hash, block.number)
  must(Number(receipt['status']) === 0, 'the transaction succeeded')
  const onChain = {
    block: block.number,
    sender: rpc.sender(inside),
    receiver: found['to'],
    selector: String(found['input']).slice(0, 10),
    gasUsed: Number(receipt['gasUsed']),
    gasLimit: Number(found['gas']),
  }
  for (const [name, value] of Object.entries(onChain)) {
    must(isEqual(value, claim[name]), `its ${name} is ${value}`)
  }
  const all = { rpc, ...protocol }
  const contracts = (
    await Promise.all(CALLED.map((name) => addressesOf(all, name, block.number)))
  ).flat()
  must(contracts.includes(text(claim, 'receiver')), 'it was sent to no contract of the protocol')
  const accounts = await accountsOf(all, text(claim, 'provider'))
  if (!accounts.includes(text(claim, 'sender'))) {
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
    [epoch, epoch - 1].map((policyEpoch) => protocol.policy(policyEpoch).catch(noPolicy)),
  )
  const members = policies.flatMap(({ members: all }) =>
    all.filter((member) => member.voter === voter),
  )
  const inForce = members.flatMap((member) => [
    member.submit,
    member.submitSignatures,
    member.signingPolicy,
  ])
  return [voter, ...own.map((account) => `0x${account.slice(24)}`), ...inForce]
}

function noPolicy(error: unknown) {
  if (error instanceof Unchecked) return { members: [] }
  throw error
}

const silence: Check = async (protocol, claim) => {
  const { rpc } = protocol
  const voter = text(claim, 'provider')
  const epoch = whole(claim, 'rewardEpoch')
  const policy = await protocol.policy(epoch)
  const member = policy.members.find((member) => member.voter === voter)
  if (member === undefined) throw new Refuted('the provider is not in the signing policy')
  const [blocks, to] = [whole(claim, 'blocksSinceUpdate'), whole(claim, 'block')]
  const last = claim['lastUpdateBlock'] === null ? to - blocks : whole(claim, 'lastUpdateBlock')
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
  if (claim['lastUpdateBlock'] !== null) {
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
  claim: Claim,
  {
    updater,
    member,
    sum,
  }: { updater: string; member: { weight: number; signingPolicy: string }; sum: number },
): Promise<void> {
  const weight = whole(claim, 'sortitionWeight')
  const computed = Math.ceil((member.weight * VIRTUAL_PROVIDERS) / sum)
  if (weight !== computed) {
    const data = VIEWS.sortitionWeight + addressWord(member.signingPolicy)
    const [present] = (await protocol.view(updater, data)) ?? []
    must(numberOf(present) === weight, `its weight is ${computed} of ${VIRTUAL_PROVIDERS}`)
  }
  const incentives = await protocol.contract('FastUpdateIncentiveManager')
  const [size] = (await protocol.view(incentives, VIEWS.sampleSize)) ?? []
  const perBlock = Number(BigInt(`0x${size ?? '0'}`)) / 2 ** 120
  const claimed = number(claim, 'sampleSize')
  // Incentives change the number for some blocks; it may be the one of then.
  must(claimed > 0 && claimed <= 2 * perBlock, `${perBlock} updates are expected in a block`)
  const blocks = whole(claim, 'blocksSinceUpdate')
  const exponent = -weight * blocks * Math.log1p(-claimed / VIRTUAL_PROVIDERS)
  const claimedExponent = -Math.log(number(claim, 'probability'))
  // The weight may have changed during the silence, at the start of a reward epoch.
  must(
    Math.abs(claimedExponent - exponent) <= 0.1 + 0.1 * exponent,
    `the chance is ${Math.exp(-exponent)}`,
  )
  if (claim['rule'] === 'probability') {
    const threshold = number(claim, 'threshold')
    must(threshold > 0 && threshold < 1, `${threshold} is no limit of a chance`)
    must(
      claimedExponent >= -Math.log(threshold) - 0.1,
      `${claim['probability']} is not below ${threshold}`,
    )
  } else {
    const limit = whole(claim, 'onePercentBlocks')
    must(blocks >= limit, `${blocks} blocks are fewer than ${limit}`)
    await checkOnePercent(protocol, limit, whole(claim, 'block'))
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

const registration: Check = async (protocol, claim) => {
  const { rpc } = protocol
  const [epoch, to] = [whole(claim, 'rewardEpoch'), whole(claim, 'block')]
  const manager = await protocol.contract('FlareSystemsManager')
  const acquired = await protocol.view(manager, VIEWS.acquisition + word(epoch))
  const opened = numberOf(acquired?.[2])
  must(opened * 1000 === Date.parse(String(claim['openedAt'])), `registration opened at ${opened}`)
  const { at } = await rpc.block(to)
  const [fixed] = (await protocol.view(manager, VIEWS.policySigning + word(epoch))) ?? []
  const isClosed = numberOf(fixed) > 0 && numberOf(fixed) <= at
  must(
    isClosed === claim['isClosed'],
    `registration was ${isClosed ? '' : 'not '}closed by block ${to}`,
  )
  must(at >= opened, `registration opened after block ${to}`)
  const minutes = whole(claim, 'minutes')
  must(isClosed || at >= opened + 60 * minutes, `${minutes} minutes had not passed by block ${to}`)
  const from = await protocol.firstBlockAt(opened)
  const addresses = await protocol.contracts('VoterRegistry', to)
  const voter = `0x${addressWord(text(claim, 'provider'))}`
  const topics = [[...REGISTERED, ...REMOVED], [voter], [`0x${word(epoch)}`]]
  const events = await rpc.logs({ addresses, topics }, from, to)
  const lastly = events.toSorted((a, b) => a.block - b.block || a.index - b.index).at(-1)
  must(!REGISTERED.includes(lastly?.topics[0] ?? ''), `it was registered in block ${lastly?.block}`)
  return `not registered for reward epoch ${epoch} in blocks ${from} to ${to}`
}

const membership: Check = async (protocol, claim) => {
  const epoch = whole(claim, 'rewardEpoch')
  const { members, startRound } = await protocol.policy(epoch)
  const isMember = members.some(({ voter }) => voter === text(claim, 'provider'))
  must(!isMember, `the provider is a voter of reward epoch ${epoch}`)
  const { voters, startRound: start } = claim
  must(voters === null || voters === members.length, `the epoch has ${members.length} voters`)
  must(start === null || start === startRound, `the epoch begins with round ${startRound}`)
  return `none of the ${members.length} voters of reward epoch ${epoch}`
}

const balance: Check = async (protocol, claim) => {
  const block = await protocol.rpc.block(whole(claim, 'block'))
  const asked = [text(claim, 'address'), `0x${block.number.toString(16)}`]
  const wei = BigInt(String(await protocol.rpc.call('eth_getBalance', asked)))
  must(wei === BigInt(text(claim, 'balanceWei')), `it held ${wei} wei`)
  must(wei < BigInt(text(claim, 'limitWei')), `${wei} wei are not below the limit`)
  const accounts = await accountsOf(protocol, text(claim, 'provider'))
  if (!accounts.includes(text(claim, 'address'))) {
    throw new Unchecked(
      'the balance was low, but no contract says that the address is the provider’s',
    )
  }
  return `${wei} wei at the end of block ${block.number}`
}

const vote: Check = async (protocol, claim) => {
  const [epoch, to] = [whole(claim, 'rewardEpoch'), whole(claim, 'block')]
  const voter = text(claim, 'provider')
  const { members } = await protocol.policy(epoch)
  must(
    members.some((member) => member.voter === voter),
    `the provider has no vote about epoch ${epoch}`,
  )
  const manager = await protocol.contract('FlareSystemsManager')
  const isUptime = claim['vote'] === 'uptime'
  const hashView = isUptime ? VIEWS.uptimeHash : VIEWS.rewardsHash
  const [hash] = (await protocol.view(manager, hashView + word(epoch))) ?? []
  const started = numberOf((await protocol.view(manager, VIEWS.epochStart + word(epoch + 1)))?.[1])
  must(started > 0 && started <= to, `reward epoch ${epoch} had not ended by block ${to}`)
  const addresses = await protocol.contracts('FlareSystemsManager', to)
  const topics = [
    [SIGNED[text(claim, 'vote')] ?? ''],
    [`0x${word(epoch)}`],
    undefined,
    [`0x${addressWord(voter)}`],
  ]
  const signed = await protocol.rpc.logs({ addresses, topics }, started, to)
  const isWinning = signed.some(({ data }) => data.slice(2, 66) === hash)
  if (claim['isConcluded'] !== true) {
    if (isUptime) await mustBeOpenFor(protocol, whole(claim, 'minutes'), epoch, to)
    must(signed.length === 0, `the provider had signed in block ${signed[0]?.block}`)
    return `no signature by the provider in blocks ${started} to ${to}`
  }
  must(numberOf(hash) > 0, 'the vote is not concluded')
  const info =
    (isUptime ? VIEWS.uptimeSigned : VIEWS.rewardsSigned) + word(epoch) + addressWord(voter)
  const at = numberOf((await protocol.view(manager, info))?.[0])
  must(at === 0 && !isWinning, `the provider signed the winning hash at ${at}`)
  must(
    signed.length > 0 === (claim['signedOtherHash'] === true),
    `it signed ${signed.length} other hashes`,
  )
  return `the vote is concluded without a signature by the provider`
}

/** Refutes an open vote on uptime unless its reward epoch ended some minutes before a block. */
async function mustBeOpenFor(
  protocol: Protocol,
  minutes: number,
  epoch: number,
  to: number,
): Promise<void> {
  const manager = await protocol.contract('FlareSystemsManager')
  const ended = numberOf((await protocol.view(manager, VIEWS.epochStart + word(epoch + 1)))?.[0])
  const { at } = await protocol.rpc.block(to)
  must(at >= ended + 60 * minutes, `${minutes} minutes had not passed by block ${to}`)
}

export const CHECKS: Readonly<Record<string, Check>> = {
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
