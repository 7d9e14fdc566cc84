import { encodeFunctionData, type Hex } from 'viem'
import { ROUNDS_ABI } from './abi.ts'
import type { Behaviour } from './behaviours.ts'
import { CONTRACTS } from './contract-addresses.ts'
import { type FastUpdate, fastUpdateBytes, fastUpdateHash, signBytes } from './encode.ts'
import type { KnownPolicy } from './policy.ts'
import { type ProviderAccounts, pseudoRandom } from './provider.ts'
import type { UnsignedTx } from './writer.ts'

const VIRTUAL_PROVIDERS = 4096
/** Expected number of updates in a block; the protocol calls it the expected sample size. */
const UPDATES_PER_BLOCK = 1.5
const GAS = 400_000

/**
 * Fast updates for one block, from the providers that sortition selects. A provider with a higher weight is selected
 * more often.
 *
 * @param block block of the sortition; must be the next block of the chain
 */
export function fastUpdates(policy: KnownPolicy, block: number): readonly UnsignedTx[] {
  const sum = policy.members.reduce((all, { weight }) => all + weight, 0)
  const transactions: UnsignedTx[] = []
  for (const { provider, accounts, weight } of policy.members) {
    if (provider.behaviours.has('no-fast-updates')) continue
    const chance = chanceOf(Math.ceil((weight * VIRTUAL_PROVIDERS) / sum))
    if (pseudoRandom('sortition', block, provider.name) >= chance) continue
    const sender = accounts.fastUpdates[block % accounts.fastUpdates.length] ?? accounts.identity
    transactions.push({
      from: sender.address,
      to: CONTRACTS.submission,
      data: encodeFunctionData({
        abi: ROUNDS_ABI,
        functionName: 'submitAndPass',
        args: [signedUpdate(accounts, block, deltasOf(provider.behaviours))],
      }),
      gas: GAS,
    })
  }
  return transactions
}

/** Bytes of deltas for the feeds of the local chain, which has nine; it accepts up to 16. */
const DELTAS = '0x000000'
const LONG_DELTAS = '0x00000000'
const REFUSED_DELTAS = '0x0000000000'

function deltasOf(behaviours: ReadonlySet<Behaviour>): Hex {
  if (behaviours.has('refused-fast-updates')) return REFUSED_DELTAS
  return behaviours.has('long-fast-updates') ? LONG_DELTAS : DELTAS
}

/**
 * Calldata for `submitAndPass`, which passes it on to FastUpdater: it begins with the selector of `submitUpdates`.
 *
 * @param block block of the sortition; the transaction may be up to a few blocks later
 * @param deltas of four feeds a byte
 */
export function signedUpdate(
  { signingPolicy }: Pick<ProviderAccounts, 'signingPolicy'>,
  block: number,
  deltas: Hex = DELTAS,
): Hex {
  const update = updateFor(block, deltas)
  const signature = signBytes(signingPolicy.privateKey, fastUpdateHash(update))
  return fastUpdateBytes(update, signature)
}

/** Probability that sortition selects at least one of a provider's virtual providers in a block. */
function chanceOf(virtualProviders: number): number {
  return 1 - (1 - UPDATES_PER_BLOCK / VIRTUAL_PROVIDERS) ** virtualProviders
}

/** An update that changes no price, with a dummy sortition proof, which the local contract does not check. */
function updateFor(block: number, deltas: Hex): FastUpdate {
  return {
    sortitionBlock: BigInt(block),
    sortitionCredential: { replicate: 0n, gamma: { x: 1n, y: 2n }, c: 3n, s: 4n },
    deltas,
  }
}
