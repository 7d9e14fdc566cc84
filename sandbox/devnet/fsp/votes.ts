import { encodeFunctionData, type Hex } from 'viem'
import type { Hash } from '#src/kernel/units.ts'
import { FSP_ABI, VOTERS_ABI } from './abi.ts'
import { CONTRACTS } from './contract-addresses.ts'
import {
  policyHash,
  registrationHash,
  rewardsVoteHash,
  signBytes,
  uptimeVoteHash,
  type WeightBasedClaims,
} from './encode.ts'
import { UPTIME_HASH } from './install.ts'
import { type ProviderAccounts, seededHash } from './provider.ts'
import type { UnsignedTx } from './writer.ts'

/** Number of weight-based claims in every epoch; made up. */
const CLAIMS: readonly WeightBasedClaims[] = [{ rewardManagerId: 14n, noOfWeightBasedClaims: 12n }]
const GAS = 600_000

/**
 * Builds the transaction of a provider's vote, from its signing-policy address.
 *
 * `isOther`: whether the vote is for another hash than the hash of the majority.
 */
export type VoteTransactionBuilder = (accounts: ProviderAccounts, isOther: boolean) => UnsignedTx

/** Transaction that registers a provider for an epoch. */
export function registration(
  accounts: ProviderAccounts,
  epoch: number,
  chainId: number | undefined,
  to: Hash | Hex,
): UnsignedTx {
  const voter = accounts.identity.address
  const { privateKey } = accounts.signingPolicy
  const signature = signBytes(privateKey, registrationHash(epoch, voter, chainId))
  return transactionOf(
    accounts,
    encodeFunctionData({
      abi: VOTERS_ABI,
      functionName: 'registerVoter',
      args: [voter, signature],
    }),
    to,
  )
}

/** Transaction that pre-registers a provider for an epoch. */
export function preRegistration(accounts: ProviderAccounts, epoch: number, to: Hex): UnsignedTx {
  const voter = accounts.identity.address
  const { privateKey } = accounts.signingPolicy
  const signature = signBytes(privateKey, registrationHash(epoch, voter))
  return transactionOf(
    accounts,
    encodeFunctionData({
      abi: VOTERS_ABI,
      functionName: 'preRegisterVoter',
      args: [voter, signature],
    }),
    to,
  )
}

/** Builds a provider's transaction that signs the signing policy of an epoch. */
export function policyVoteBuilder(
  epoch: number,
  bytes: Hex,
  chainId: number | undefined,
): VoteTransactionBuilder {
  const hash = policyHash(bytes, chainId)
  return (accounts) => {
    const signature = signBytes(accounts.signingPolicy.privateKey, hash)
    return transactionOf(
      accounts,
      encodeFunctionData({
        abi: FSP_ABI,
        functionName: 'signNewSigningPolicy',
        args: [epoch, hash, signature],
      }),
    )
  }
}

/**
 * Builds a provider's transaction that signs the uptime vote of an epoch; with `isOther` over another hash than
 * the others.
 */
export function uptimeVoteBuilder(epoch: number): VoteTransactionBuilder {
  return (accounts, isOther) => {
    const hash = isOther ? seededHash('other uptime', epoch) : UPTIME_HASH
    const { privateKey } = accounts.signingPolicy
    const signature = signBytes(privateKey, uptimeVoteHash(epoch, hash))
    return transactionOf(
      accounts,
      encodeFunctionData({
        abi: FSP_ABI,
        functionName: 'signUptimeVote',
        args: [epoch, hash, signature],
      }),
    )
  }
}

/**
 * Builds a provider's transaction that signs the rewards of an epoch; with `isOther` over another hash than the
 * others.
 *
 * @param root Merkle root of the rewards
 */
export function rewardsVoteBuilder(epoch: number, root: Hash): VoteTransactionBuilder {
  return (accounts, isOther) => {
    const hash = isOther ? seededHash('other rewards', epoch) : root
    const { privateKey } = accounts.signingPolicy
    const signature = signBytes(privateKey, rewardsVoteHash(epoch, CLAIMS, hash))
    return transactionOf(
      accounts,
      encodeFunctionData({
        abi: FSP_ABI,
        functionName: 'signRewards',
        args: [epoch, CLAIMS, hash, signature],
      }),
    )
  }
}

function transactionOf(
  { signingPolicy }: ProviderAccounts,
  data: Hex,
  to: Hex = CONTRACTS.flareSystemsManager,
): UnsignedTx {
  return { from: signingPolicy.address, to, data, gas: GAS }
}
