import { parseTransaction, type TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { senderOf } from '../../examples/evidence/roots.ts'

/** Senders of transactions, recovered by the script of examples/ and signed by viem. */

const ACCOUNT = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const TO = '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f'
const CALL = { to: TO, data: '0x6c532fae0102', gas: 60_000n, nonce: 7, value: 0n } as const
const ACCESS = [{ address: TO, storageKeys: [`0x${'22'.repeat(32)}`] }] as const

const SIGNED: readonly (readonly [string, TransactionSerializable])[] = [
  ['legacy', { ...CALL, type: 'legacy', gasPrice: 25n * 10n ** 9n, chainId: 14 }],
  ['legacy without a chain', { ...CALL, type: 'legacy', gasPrice: 1n }],
  ['EIP-2930', { ...CALL, type: 'eip2930', gasPrice: 5n, chainId: 14, accessList: ACCESS }],
  [
    'EIP-1559',
    { ...CALL, type: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, chainId: 19 },
  ],
]

/** A transaction as a node writes it. */
async function asNode(transaction: TransactionSerializable): Promise<Record<string, unknown>> {
  const parsed = parseTransaction(await ACCOUNT.signTransaction(transaction)) as Record<
    string,
    unknown
  >
  const types = { legacy: 0, eip2930: 1, eip1559: 2 } as const
  const { data, type, ...rest } = parsed
  const all = { ...rest, input: data, type: types[type as keyof typeof types] }
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [
      name,
      typeof value === 'bigint' || typeof value === 'number' ? `0x${value.toString(16)}` : value,
    ]),
  )
}

test.each(
  SIGNED,
)('the sender of a %s transaction follows from its signature', async (_, signed) => {
  expect(senderOf(await asNode(signed))).toBe(ACCOUNT.address.toLowerCase())
})

test('changed content gives another sender, and a transaction without a signature gives none', async () => {
  const [, signed] = SIGNED[0] ?? []
  const fields = await asNode(signed as TransactionSerializable)
  expect(senderOf({ ...fields, nonce: '0x8' })).not.toBe(ACCOUNT.address.toLowerCase())
  expect(senderOf({ ...fields, r: '0x0', s: '0x0' })).toBeUndefined()
  expect(senderOf({ ...fields, type: '0x7e' })).toBeUndefined()
})
