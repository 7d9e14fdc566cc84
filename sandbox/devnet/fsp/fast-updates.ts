import { encodeFunctionData, type Hex } from 'viem'
import { ROUNDS_ABI } from './abi.ts'
import { type FastUpdate, fastUpdateBytes, fastUpdateHash, signBytes } from './encode.ts'
import { FSP } from './places.ts'
import type { KnownPolicy } from './policy.ts'
import { type ProviderAccounts, pseudoRandom } from './provider.ts'
import type { Tx } from './writer.ts'

const VIRTUAL_PROVIDERS = 4096
const UPDATES_PER_BLOCK = 1.5
const GAS = 400_000

/**
 * Price updates of a block by the members drawn for it: the heavier, the more often.
 *
 * @param block the one they are drawn for, which must be the next
 */
export function fastUpdates(policy: KnownPolicy, block: number): readonly Tx[] {
  const sum = policy.members.reduce((all, { weight }) => all + weight, 0)
  const transactions: Tx[] = []
  for (const { provider, accounts, weight } of policy.members) {
    if (provider.behaviours.has('no-fast-updates')) continue
    const chance = chanceOf(Math.ceil((weight * VIRTUAL_PROVIDERS) / sum))
    if (pseudoRandom('sortition', block, provider.name) >= chance) continue
    const sender = accounts.fastUpdates[block % accounts.fastUpdates.length] ?? accounts.identity
    transactions.push({
      from: sender.address,
      to: FSP.submission,
      data: encodeFunctionData({
        abi: ROUNDS_ABI,
        functionName: 'submitAndPass',
        args: [signedUpdate(accounts, block)],
      }),
      gas: GAS,
    })
  }
  return transactions
}

/**
 * A provider's update as input of `submitAndPass`; prefixed with the selector of `submitUpdates`, like the
 * FastUpdater.
 *
 * @param block the one it is drawn for: up to a few blocks before its own
 * @param deltas of four feeds a byte
 */
export function signedUpdate(
  { signingPolicy }: Pick<ProviderAccounts, 'signingPolicy'>,
  block: number,
  deltas: Hex = '0x000000',
): Hex {
  const update = updateFor(block, deltas)
  const signature = signBytes(signingPolicy.privateKey, fastUpdateHash(update))
  return fastUpdateBytes(update, signature)
}

/** Probability of being drawn at least once in a block. */
function chanceOf(weight: number): number {
  return 1 - (1 - UPDATES_PER_BLOCK / VIRTUAL_PROVIDERS) ** weight
}

/** An update that changes no price, with a made-up proof. */
function updateFor(block: number, deltas: Hex): FastUpdate {
  return {
    sortitionBlock: BigInt(block),
    sortitionCredential: { replicate: 0n, gamma: { x: 1n, y: 2n }, c: 3n, s: 4n },
    deltas,
  }
}
