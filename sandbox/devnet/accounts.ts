import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

/** A person whose wallet has a publicly known key. Never use it on a chain with real value. */
export interface DevPerson {
  readonly name: string
  readonly privateKey: `0x${string}`
  /** Signs messages and transactions locally. */
  readonly account: PrivateKeyAccount
}

/**
 * Three wallets for experiments: Alice is the owner, Bob another user, Carol read-only.
 *
 * Their keys are the first three of the mnemonic `test test test test test test test test test test test junk` at
 * `m/44'/60'/0'/0/n`, which every development chain funds.
 */
export const PEOPLE = {
  alice: person('Alice', '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'),
  bob: person('Bob', '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'),
  carol: person('Carol', '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'),
} as const

function person(name: string, privateKey: `0x${string}`): DevPerson {
  return { name, privateKey, account: privateKeyToAccount(privateKey) }
}
