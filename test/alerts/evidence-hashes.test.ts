import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { keccak } from '../../examples/evidence/keccak.ts'
import { recoverSigner } from '../../examples/evidence/secp256k1.ts'

/** The script that checks evidence has no packages: its hash and its signatures are its own. */

test('the hash of the example script is Keccak-256, at every length up to three blocks', () => {
  for (let length = 0; length < 3 * 136 + 2; length += 1) {
    const data = Uint8Array.from({ length }, (_, index) => (7 * index + length) % 256)
    expect([length, `0x${keccak(data).toString('hex')}`]).toEqual([length, keccak256(data)])
  }
})

test('the example script recovers the signer of a hash, and none from a malformed signature', async () => {
  for (let number = 1; number <= 20; number += 1) {
    const digest = keccak(Buffer.from(`digest ${number}`))
    const account = privateKeyToAccount(`0x${digest.toString('hex')}`)
    const whole = Buffer.from(
      (await account.sign({ hash: `0x${digest.toString('hex')}` })).slice(2),
      'hex',
    )
    const [signature, parity] = [whole.subarray(0, 64), Number(whole[64]) - 27]
    expect(recoverSigner(digest, signature, parity)).toBe(account.address.toLowerCase())
    expect(recoverSigner(digest, signature, 1 - parity)).not.toBe(account.address.toLowerCase())
    expect(recoverSigner(digest, signature, 4)).toBeUndefined()
    expect(recoverSigner(digest, Buffer.alloc(64), parity)).toBeUndefined()
  }
})
