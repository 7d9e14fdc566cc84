/** Checks claims about rewards that nobody claimed. */
import { type Check, must } from './claim.ts'
import type { ClaimOf } from './file.ts'
import { keccak } from './keccak.ts'
import { addressWord, numberOf, type Protocol, VIEWS, word } from './protocol.ts'
import { isRecord } from './published.ts'
import { Unchecked, unknownState } from './request.ts'

/** Types of a provider's own claims: direct rewards and fee. Others belong to delegators. */
const OWN_TYPES = [0, 1]
const DIRECT = 0

/** A published reward, with its proof. */
interface Reward {
  readonly epoch: number
  readonly beneficiary: string
  readonly amount: bigint
  readonly type: number
  readonly proof: readonly string[]
}

/**
 * Own rewards that could be claimed and were not. What is published is proven by the root of the reward epoch on the
 * chain, and that it is unclaimed by a simulated claim of the owner, which pays what is left.
 */
export const rewards: Check<'rewards'> = async (protocol, claim, { firedAt }, { published }) => {
  const { provider, epochs, expiresAt } = claim
  const block = await protocol.rpc.block(claim.block)
  if (published === undefined) {
    throw new Unchecked(
      'give the published rewards: --published https://…/{epoch}/reward-distribution-data.json',
    )
  }
  must(epochs.length > 0, 'the claim names no reward epoch')
  const isInOrder = epochs.every((epoch, at) => at === 0 || epoch > (epochs[at - 1] ?? epoch))
  must(isInOrder, 'the claim does not name each reward epoch once, oldest first')
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= Date.parse(firedAt)
  must(!isOver, 'the rewards had expired')
  const all: Reward[] = []
  for (const epoch of epochs) {
    const own = await publishedOf(protocol, epoch, provider, await published(epoch))
    let waiting = 0
    for (const reward of own) {
      if (!(await isWaiting(protocol, reward, block.number))) continue
      all.push(reward)
      waiting += 1
    }
    must(waiting > 0, `no reward of reward epoch ${epoch} is left`)
  }
  const sum = all.reduce((total, { amount }) => total + amount, 0n)
  must(String(sum) === claim.amountWei, `${sum} wei are left`)
  await checkExpiry(protocol, claim, Math.min(...epochs))
  return `${sum} wei of the reward epochs ${epochs.join(', ')} were not claimed by block ${block.number}`
}

/** The provider's own rewards of an epoch, each proven by the root on the chain. */
async function publishedOf(
  protocol: Protocol,
  epoch: number,
  provider: string,
  data: unknown,
): Promise<readonly Reward[]> {
  const { members } = await protocol.policy(epoch)
  const member = members.find(({ voter }) => voter === provider)
  if (!isRecord(data) || Number(data['rewardEpochId']) !== epoch)
    throw new Unchecked(`what is published is not of reward epoch ${epoch}`)
  const manager = await protocol.contract('FlareSystemsManager')
  const [root = ''] = (await protocol.view(manager, VIEWS.rewardsHash + word(epoch))) ?? []
  must(numberOf(root) > 0, `nothing can be claimed of reward epoch ${epoch}`)
  const own = [data['rewardClaims'] ?? []]
    .flat()
    .map(readReward)
    .filter((reward) => reward !== undefined)
  const accounts = [provider, member?.signingPolicy]
  const named = new Set(members.flatMap(({ voter, signingPolicy }) => [voter, signingPolicy]))
  const unnamed = own.filter(({ beneficiary, type }) => type === DIRECT && !named.has(beneficiary))
  const others = unnamed.length === 0 ? [] : await neighbouringKeys(protocol, epoch, provider)
  const isOf = ({ beneficiary, type }: Reward) =>
    OWN_TYPES.includes(type) &&
    (accounts.includes(beneficiary) ||
      (type === DIRECT && !named.has(beneficiary) && others.includes(beneficiary)))
  const proven = own.filter((reward) => {
    const isOwn = isOf(reward)
    if (isOwn && (reward.epoch !== epoch || rootOf(reward) !== root))
      throw new Unchecked(`a published reward of reward epoch ${epoch} does not fit the root`)
    return isOwn
  })
  // The root proves a reward as often as it is published, but it is paid once.
  return [...new Map(proven.map((reward) => [bodyOf(reward), reward])).values()]
}

/**
 * Signing keys that the provider has in the neighbouring reward epochs. A key that changes while an epoch ends is paid
 * under the key of a neighbour; one that belongs to another provider in the other neighbour is nobody's.
 */
async function neighbouringKeys(
  protocol: Protocol,
  epoch: number,
  provider: string,
): Promise<readonly string[]> {
  const before = epoch === 0 ? [] : (await protocol.policy(epoch - 1)).members
  const both = [...before, ...(await protocol.policy(epoch + 1)).members]
  const foreign = both.filter(({ voter }) => voter !== provider)
  return both
    .filter(({ voter }) => voter === provider)
    .map(({ signingPolicy }) => signingPolicy)
    .filter((key) => !foreign.some(({ signingPolicy }) => signingPolicy === key))
}

function readReward(value: unknown): Reward | undefined {
  if (!isRecord(value) || !isRecord(value['body'])) return undefined
  const { rewardEpochId, beneficiary, amount, claimType } = value['body']
  const proof = [value['merkleProof']].flat().map(String)
  const isWhole = /^\d{1,36}$/.test(String(amount)) && /^0x[\da-f]{40}$/i.test(String(beneficiary))
  if (!isWhole || proof.some((hash) => !/^0x[\da-f]{64}$/i.test(hash))) return undefined
  return {
    epoch: Number(rewardEpochId),
    beneficiary: String(beneficiary).toLowerCase(),
    amount: BigInt(String(amount)),
    type: Number(claimType),
    proof: proof.map((hash) => hash.slice(2).toLowerCase()),
  }
}

/** The four words of a reward; bytes of fixed length stand at the left. */
function bodyOf({ epoch, beneficiary, amount, type }: Reward): string {
  return word(epoch) + beneficiary.slice(2).padEnd(64, '0') + word(amount) + word(type)
}

/** The root to which a reward and its proof lead; pairs are hashed in order. */
function rootOf(reward: Reward): string {
  const hashed = (hex: string) => keccak(Buffer.from(hex, 'hex')).toString('hex')
  return reward.proof.reduce(
    (node, other) => hashed(node < other ? node + other : other + node),
    hashed(bodyOf(reward)),
  )
}

/** Whether a reward is left at the end of a block; a claimed one stays claimed, so that the present state may prove it. */
async function isWaiting(protocol: Protocol, reward: Reward, block: number): Promise<boolean> {
  const then = await leftOf(protocol, reward, `0x${block.toString(16)}`).catch(unknownState)
  if (then !== undefined) return then > 0n
  if ((await leftOf(protocol, reward, 'latest')) > 0n) return true
  throw new Unchecked(`the reward is claimed by now: give an endpoint with the state of ${block}`)
}

/** What a claim with the reward would pay more than one without. */
async function leftOf({ rpc, contract }: Protocol, reward: Reward, tag: string): Promise<bigint> {
  const to = await contract('RewardManager')
  const paid = async (rewards: readonly Reward[]) => {
    const data = `0x${claimData(reward, rewards)}`
    const answer = String(await rpc.call('eth_call', [{ from: reward.beneficiary, to, data }, tag]))
    if (!/^0x[\da-f]{64}$/i.test(answer)) throw new Unchecked('the RewardManager gives no amount')
    return BigInt(answer)
  }
  return (await paid([reward])) - (await paid([]))
}

/** Calldata of a claim by the beneficiary for itself. */
function claimData({ beneficiary, epoch }: Reward, rewards: readonly Reward[]): string {
  const head = [addressWord(beneficiary), addressWord(beneficiary), word(epoch), word(0), word(160)]
  const tuples = rewards.map((reward) => [
    word(160),
    bodyOf(reward),
    word(reward.proof.length),
    ...reward.proof,
  ])
  const offsets = rewards.length === 0 ? [] : [word(32)]
  return [VIEWS.claim, ...head, word(rewards.length), ...offsets, ...tuples.flat()].join('')
}

/** Rewards expire a fixed time after the planned end of their epoch. */
async function checkExpiry(
  protocol: Protocol,
  { expiresAt }: ClaimOf<'rewards'>,
  oldest: number,
): Promise<void> {
  const manager = await protocol.contract('FlareSystemsManager')
  if (expiresAt === null) {
    const offset = await protocol.view(manager, VIEWS.rewardExpirySeconds)
    return must(offset === undefined, 'the chain has a time at which rewards expire')
  }
  const read = async (selector: string) => numberOf((await protocol.view(manager, selector))?.[0])
  const first = await read(VIEWS.firstEpochAt)
  const ends = first + (oldest + 1) * (await read(VIEWS.epochSeconds))
  const expires = ends + (await read(VIEWS.rewardExpirySeconds))
  must(
    Date.parse(expiresAt) === 1000 * expires,
    `rewards of reward epoch ${oldest} expire at ${expires}`,
  )
}
