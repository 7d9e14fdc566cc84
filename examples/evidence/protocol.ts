/** Contracts, reward epochs and signing policies of the Flare Systems Protocol, read from the chain. */
import { Reverted, unknownState } from './request.ts'
import { type Rpc, Unchecked } from './rpc.ts'

/** A provider in a signing policy; addresses in lower case. */
export interface Member {
  readonly voter: string
  readonly submit: string
  readonly submitSignatures: string
  readonly signingPolicy: string
  readonly weight: number
}

export interface Policy {
  readonly startRound: number
  readonly members: readonly Member[]
  /** Sum of the weights of providers with a key for fast updates. */
  readonly sumWithKeys: number
}

/** Time settings of the chain, seconds. */
export interface Clock {
  readonly first: number
  readonly length: number
}

export interface Protocol {
  readonly rpc: Rpc
  /** Present addresses of a contract, and those at the end of a block where its state is still there. */
  contracts(name: string, block?: number): Promise<readonly string[]>
  contract(name: string): Promise<string>
  /** Answer of a view of a contract, as words of 32 bytes in hex; undefined if it reverts. */
  view(to: string, data: string, block?: number): Promise<readonly string[] | undefined>
  clock(): Promise<Clock>
  /** The first round of a reward epoch; undefined while that is not known. */
  startOf(epoch: number): Promise<number | undefined>
  policy(epoch: number): Promise<Policy>
  /** Number of the first block at or after a time, and of the last block. */
  firstBlockAt(seconds: number): Promise<number>
  tip(): Promise<number>
}

/** Views by name. Selectors of Flare's contracts. */
export const VIEWS = {
  contractByName: '82760fca',
  firstRoundAt: 'e8d0e70a',
  roundSeconds: '5a832088',
  voterRegistry: 'be60040e',
  relay: 'b59589d1',
  currentEpoch: '70562697',
  startRound: '75d2187a',
  voters: '457c2e47',
  votersAndWeights: 'b9111169',
  submit: '7c2cb921',
  submitSignatures: 'b61b57fa',
  signingPolicy: '29a2e5ed',
  weightSums: '9508858e',
  acquisition: '8f8f9f3a',
  epochStart: '00ddae53',
  policySigning: 'd2e9ad71',
  voterAddresses: 'e5771dbc',
  voterOfSubmit: '89292b0f',
  voterOfSubmitSignatures: '61bc320f',
  voterOfSigningPolicy: 'e178ec4c',
  voterOfDelegation: 'bc8c4a5f',
  epochSeconds: '85f3c9c9',
  sampleSize: '6d62b413',
  feedIds: '0c518dce',
  sortitionWeight: 'a14634a7',
  submissionWindow: 'e621dbc7',
  uptimeHash: 'd3466911',
  rewardsHash: '647006e2',
  uptimeSigned: '41c05ad5',
  rewardsSigned: '1916e915',
  nodeIdsAt: '5b4be5f2',
  firstEpochAt: '79e047ed',
  rewardExpirySeconds: '4eaee307',
  claim: '8e33aba5',
} as const

export const word = (value: number | bigint): string => value.toString(16).padStart(64, '0')
export const addressWord = (address: string): string =>
  address.slice(2).toLowerCase().padStart(64, '0')
export const numberOf = (text: string | undefined): number => Number(BigInt(`0x${text ?? '0'}`))
const addressOf = (text: string | undefined): string => `0x${(text ?? '').slice(24)}`

const NOBODY = `0x${'0'.repeat(40)}`

/** Reads the protocol of a chain, beginning with its contract registry. */
export function createProtocol(rpc: Rpc, registry: string): Protocol {
  async function view(
    to: string,
    data: string,
    block?: number,
  ): Promise<readonly string[] | undefined> {
    const tag = block === undefined ? 'latest' : `0x${block.toString(16)}`
    try {
      const answer = String(await rpc.call('eth_call', [{ to, data: `0x${data}` }, tag]))
      const words = answer.slice(2).match(/.{64}/g)
      return words ?? undefined
    } catch (error) {
      if (error instanceof Reverted) return undefined
      throw error
    }
  }

  async function named(name: string, block?: number): Promise<string | undefined> {
    const letters = Buffer.from(name).toString('hex').padEnd(64, '0')
    const data = `${VIEWS.contractByName}${word(32)}${word(name.length)}${letters}`
    const found = addressOf((await view(registry, data, block))?.[0])
    return found === NOBODY || found.length < 42 ? undefined : found
  }

  /** The address that the manager uses, which the registry may not know yet. */
  async function used(name: string, block?: number): Promise<string | undefined> {
    const ask = name === 'Relay' ? VIEWS.relay : name === 'VoterRegistry' ? VIEWS.voterRegistry : ''
    const manager = ask === '' ? undefined : await named('FlareSystemsManager', block)
    if (manager === undefined) return undefined
    const found = addressOf((await view(manager, ask, block))?.[0])
    return found === NOBODY || found.length < 42 ? undefined : found
  }

  async function contracts(name: string, block?: number): Promise<readonly string[]> {
    const now = [await named(name), await used(name)]
    const then =
      block === undefined
        ? []
        : [
            await named(name, block).catch(unknownState),
            await used(name, block).catch(unknownState),
          ]
    const found = [...now, ...then].flatMap((address) => address ?? [])
    if (found.length === 0) throw new Unchecked(`there is no contract ${name} on this chain`)
    return [...new Set(found)]
  }
  const contract = async (name: string) => (await contracts(name))[0] ?? ''

  let time: Promise<Clock> | undefined
  async function readClock(): Promise<Clock> {
    const manager = await contract('FlareSystemsManager')
    const [first] = (await view(manager, VIEWS.firstRoundAt)) ?? []
    const [length] = (await view(manager, VIEWS.roundSeconds)) ?? []
    return { first: numberOf(first), length: numberOf(length) }
  }
  const clock = () => {
    time ??= readClock()
    return time
  }

  async function startOf(epoch: number): Promise<number | undefined> {
    const manager = await contract('FlareSystemsManager')
    const [start] = (await view(manager, VIEWS.startRound + word(epoch))) ?? []
    return numberOf(start) || undefined
  }

  async function policy(epoch: number): Promise<Policy> {
    const startRound = await startOf(epoch)
    for (const registryOfVoters of await contracts('VoterRegistry')) {
      const list = async (selector: string) =>
        array(await view(registryOfVoters, selector + word(epoch)), 0)
      const votersAndWeights = await view(registryOfVoters, VIEWS.votersAndWeights + word(epoch))
      const [voters, weights] = [array(votersAndWeights, 0), array(votersAndWeights, 1)]
      if (voters.length === 0 || startRound === undefined) continue
      const [submit, signatures, signing] = [
        await list(VIEWS.submit),
        await list(VIEWS.submitSignatures),
        await list(VIEWS.signingPolicy),
      ]
      const [, sum, withKeys] = (await view(registryOfVoters, VIEWS.weightSums + word(epoch))) ?? []
      const members = voters.map((voter, place) => ({
        voter: addressOf(voter),
        submit: addressOf(submit[place]),
        submitSignatures: addressOf(signatures[place]),
        signingPolicy: addressOf(signing[place]),
        weight: numberOf(weights[place]),
      }))
      const sumWithKeys = numberOf(withKeys) || numberOf(sum)
      return { startRound, members, sumWithKeys }
    }
    throw new Unchecked(`the signing policy of reward epoch ${epoch} cannot be read`)
  }

  const tip = async () => Number(await rpc.call('eth_blockNumber', []))

  async function firstBlockAt(seconds: number): Promise<number> {
    let [low, high] = [0, await tip()]
    if ((await rpc.block(high)).at < seconds) {
      throw new Unchecked('the chain of this endpoint ends before the time of the claim')
    }
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((await rpc.block(middle)).at < seconds) low = middle + 1
      else high = middle
    }
    return low
  }

  return { rpc, contracts, contract, view, clock, startOf, policy, firstBlockAt, tip }
}

/** The array that the given word of an answer points to. */
export function array(words: readonly string[] | undefined, place: number): readonly string[] {
  if (words?.[place] === undefined) return []
  const at = numberOf(words[place]) / 32
  return words.slice(at + 1, at + 1 + numberOf(words[at]))
}
