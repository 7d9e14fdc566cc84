import { type Hex, slice } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { keccak256 } from '#src/chain/blocks/keccak.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import { publicKeyOf } from '../keys.ts'

/** An account with a publicly known key. */
export interface ProviderAccount {
  readonly address: Address
  readonly privateKey: Hash
}

/** A data provider's accounts, all derived from its name. */
export interface ProviderAccounts {
  readonly name: string
  /** The identity, also called voter. */
  readonly identity: ProviderAccount
  readonly submit: ProviderAccount
  readonly submitSignatures: ProviderAccount
  readonly signingPolicy: ProviderAccount
  readonly delegation: ProviderAccount
  /** Accounts that send fast updates; registered nowhere. */
  readonly fastUpdates: readonly ProviderAccount[]
  /** Node ids of the provider's validators, 20 bytes each. */
  readonly nodeIds: readonly Hex[]
  /** Key for the sortition of fast updates. */
  readonly sortitionKey: { readonly x: Hash; readonly y: Hash }
}

const FAST_UPDATE_ACCOUNTS = 2

/**
 * Derives the accounts of a provider.
 *
 * @param submitVersion another value gives another submit address and leaves the rest unchanged
 */
export function providerAccounts(name: string, submitVersion = 1): ProviderAccounts {
  const secret = (what: string): Hash => keccak256(Buffer.from(`sandbox provider ${name}: ${what}`))
  const account = (role: string): ProviderAccount => {
    const privateKey = secret(role)
    return { privateKey, address: publicKeyToAddress(publicKeyOf(privateKey)) }
  }
  return {
    name,
    identity: account('identity'),
    submit: account(submitVersion === 1 ? 'submit' : `submit ${submitVersion}`),
    submitSignatures: account('submitSignatures'),
    signingPolicy: account('signingPolicy'),
    delegation: account('delegation'),
    fastUpdates: Array.from({ length: FAST_UPDATE_ACCOUNTS }, (_, i) => account(`fast ${i}`)),
    nodeIds: [slice(secret('node'), 0, 20)],
    sortitionKey: { x: secret('sortition x'), y: secret('sortition y') },
  }
}

/** A deterministic pseudo-random number in [0, 1). */
export function pseudoRandom(...about: readonly (string | number)[]): number {
  const hash = keccak256(Buffer.from(about.join('/')))
  return Number.parseInt(hash.slice(2, 14), 16) / 2 ** 48
}

/** 32 deterministic pseudo-random bytes. */
export function seededHash(...about: readonly (string | number)[]): Hash {
  return keccak256(Buffer.from(about.map((part) => `${part}/`).join('')))
}
