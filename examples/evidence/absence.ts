/** Checks claims that something of a provider is not on the chain: a registration, a place in a policy, a vote. */
import { type Check, must, mustBeIn } from './claim.ts'
import { addressWord, numberOf, type Policy, type Protocol, VIEWS, word } from './protocol.ts'
import { Unchecked, unknownState } from './request.ts'

const REGISTERED = [
  '0xbfb6cd90b6e2668916d9e034926c84f40bcf94094b0d625ec8eecfdeb2150ae1',
  '0x824bc2cc10bfe21ead60b8c8a90716eb325b9335aa73eaede799abf38fce062c',
]
const REMOVED = [
  '0xc68883244ac4be6ff6d4b0bf9c8f4cc0fa21af3cf2921443c1bd0af0683cfcf6',
  '0x98a7f87f8e2aa2f23f43769eff67782bb12946384b142d1ce1e8e38e05d9a3e6',
]
const SIGNED = {
  uptime: '0x5506337d1266599f8b64675a1c8321701657ca2f2f70be0e0c58302b6c22e797',
  rewards: '0x81b5504045130d3b82498ff414ad58271e85bbde420cc85aa66d91eff9af30fb',
} as const
/** Blocks of a reward epoch at most: they follow each other by a second or more. */
export const EPOCH_BLOCKS = 302_400

const OWNERS = [
  ...[VIEWS.voterOfSubmit, VIEWS.voterOfSubmitSignatures],
  ...[VIEWS.voterOfSigningPolicy, VIEWS.voterOfDelegation],
]

/**
 * That something of an address is missing means something only if the address is the identity of a provider. Refutes
 * other accounts of one. @throws Unchecked for an address that neither the EntityManager nor a policy knows
 */
async function mustBeIdentity(
  protocol: Protocol,
  address: string,
  policies: readonly (Policy | undefined)[],
): Promise<void> {
  const members = policies.flatMap((policy) => policy?.members ?? [])
  if (members.some(({ voter }) => voter === address)) return
  const account = members.find(({ submit, submitSignatures, signingPolicy }) =>
    [submit, submitSignatures, signingPolicy].includes(address),
  )
  must(account === undefined, `${address} is another account of ${account?.voter}`)
  const entities = await protocol.contract('EntityManager')
  const own = addressWord(address)
  const accounts = await protocol.view(entities, VIEWS.voterAddresses + own)
  if (accounts?.some((known) => numberOf(known) > 0 && known !== own) === true) return
  const now = word(await protocol.tip())
  for (const view of OWNERS) {
    const [owner = own] = (await protocol.view(entities, view + own + now)) ?? []
    const isOther = numberOf(owner) > 0 && owner !== own
    must(!isOther, `${address} is another account of 0x${owner.slice(24)}`)
  }
  throw new Unchecked(`${address} is not known as the identity of a provider`)
}

export const registration: Check<'registration'> = async (protocol, claim, alert) => {
  const { rpc } = protocol
  const { rewardEpoch: epoch, block: to, minutes, provider } = claim
  await mustBeIn(protocol, alert, [epoch - 1, epoch])
  const before = [epoch - 1, epoch - 2].map((own) => protocol.policy(own).catch(unknownState))
  await mustBeIdentity(protocol, provider, await Promise.all(before))
  const manager = await protocol.contract('FlareSystemsManager')
  const acquired = await protocol.view(manager, VIEWS.acquisition + word(epoch))
  const opened = numberOf(acquired?.[2])
  must(opened * 1000 === Date.parse(claim.openedAt), `registration opened at ${opened}`)
  const { at } = await rpc.block(to)
  const [fixed] = (await protocol.view(manager, VIEWS.policySigning + word(epoch))) ?? []
  const isClosed = numberOf(fixed) > 0 && numberOf(fixed) <= at
  must(
    isClosed === claim.isClosed,
    `registration was ${isClosed ? '' : 'not '}closed by block ${to}`,
  )
  must(at >= opened, `registration opened after block ${to}`)
  must(isClosed || at >= opened + 60 * minutes, `${minutes} minutes had not passed by block ${to}`)
  const from = await protocol.firstBlockAt(opened)
  mustBeFew(to - from, EPOCH_BLOCKS)
  const addresses = await protocol.contracts('VoterRegistry', to)
  const voter = `0x${addressWord(provider)}`
  const topics = [[...REGISTERED, ...REMOVED], [voter], [`0x${word(epoch)}`]]
  const events = await rpc.logs({ addresses, topics }, from, to)
  const lastly = events.toSorted((a, b) => a.block - b.block || a.index - b.index).at(-1)
  must(!REGISTERED.includes(lastly?.topics[0] ?? ''), `it was registered in block ${lastly?.block}`)
  return `not registered for reward epoch ${epoch} in blocks ${from} to ${to}`
}

export const membership: Check<'membership'> = async (protocol, claim, alert) => {
  const { rewardEpoch: epoch, provider, voters, startRound: start } = claim
  await mustBeIn(protocol, alert, [epoch - 1, epoch])
  const policy = await protocol.policy(epoch)
  const { members, startRound } = policy
  const isMember = members.some(({ voter }) => voter === provider)
  must(!isMember, `the provider is a voter of reward epoch ${epoch}`)
  const before = await protocol.policy(epoch - 1).catch(unknownState)
  await mustBeIdentity(protocol, provider, [policy, before])
  must(voters === null || voters === members.length, `the epoch has ${members.length} voters`)
  must(start === null || start === startRound, `the epoch begins with round ${startRound}`)
  return `none of the ${members.length} voters of reward epoch ${epoch}`
}

export const vote: Check<'vote'> = async (protocol, claim, alert) => {
  const { rewardEpoch: epoch, block: to, provider: voter, isConcluded } = claim
  await mustBeIn(protocol, alert, [epoch + 1, epoch + 2])
  const { members } = await protocol.policy(epoch)
  must(
    members.some((member) => member.voter === voter),
    `the provider has no vote about epoch ${epoch}`,
  )
  const manager = await protocol.contract('FlareSystemsManager')
  const isUptime = claim.vote === 'uptime'
  const hashView = isUptime ? VIEWS.uptimeHash : VIEWS.rewardsHash
  const [hash] = (await protocol.view(manager, hashView + word(epoch))) ?? []
  const [end, block] = (await protocol.view(manager, VIEWS.epochStart + word(epoch + 1))) ?? []
  const [ended, started] = [numberOf(end), numberOf(block)]
  must(started > 0 && started <= to, `reward epoch ${epoch} had not ended by block ${to}`)
  must(
    1000 * ended === Date.parse(String(alert.data['endedAt'])),
    `reward epoch ${epoch} ended at ${ended}`,
  )
  mustBeFew(to - started, 2 * EPOCH_BLOCKS)
  const addresses = await protocol.contracts('FlareSystemsManager', to)
  const topics = [
    [SIGNED[claim.vote]],
    [`0x${word(epoch)}`],
    undefined,
    [`0x${addressWord(voter)}`],
  ]
  const signed = await protocol.rpc.logs({ addresses, topics }, started, to)
  const isWinning = signed.some(({ data }) => data.slice(2, 66) === hash)
  if (!isConcluded) {
    const { at } = await protocol.rpc.block(to)
    const since = ended + 60 * (claim.minutes ?? 0)
    if (isUptime) must(at >= since, `${claim.minutes} minutes had not passed by block ${to}`)
    must(signed.length === 0, `the provider had signed in block ${signed[0]?.block}`)
    return `no signature by the provider in blocks ${started} to ${to}`
  }
  must(numberOf(hash) > 0, 'the vote is not concluded')
  const info =
    (isUptime ? VIEWS.uptimeSigned : VIEWS.rewardsSigned) + word(epoch) + addressWord(voter)
  const at = numberOf((await protocol.view(manager, info))?.[0])
  must(at === 0 && !isWinning, `the provider signed the winning hash at ${at}`)
  must(signed.length > 0 === claim.signedOtherHash, `it signed ${signed.length} other hashes`)
  return `the vote is concluded without a signature by the provider`
}

/** What must not be read block by block. */
function mustBeFew(blocks: number, max: number): void {
  if (blocks > max) throw new Unchecked(`${blocks} blocks are more than the ${max} read here`)
}
