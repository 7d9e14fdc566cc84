import fc from 'fast-check'
import { getAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { readMessage, type SignInMessage, writeMessage } from './message.ts'
import { grantedScopes } from './rules.ts'

const KNOWN: SignInMessage = {
  publicUrl: 'https://watch.example',
  wallet: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  scopes: ['read', 'write', 'spend'],
  nonce: '0123456789abcdef0123456789abcdef',
  issuedAt: new Date('2026-11-20T15:00:00.000Z'),
  expiresAt: new Date('2026-11-20T15:05:00.000Z'),
}

const KNOWN_TEXT = `watch.example wants you to sign in with your Ethereum account:
0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

Sign in to Watchdog with these permissions: read, write, spend. This signature costs nothing and moves no funds.

URI: https://watch.example
Version: 1
Chain ID: 14
Nonce: 0123456789abcdef0123456789abcdef
Issued At: 2026-11-20T15:00:00.000Z
Expiration Time: 2026-11-20T15:05:00.000Z
Resources:
- urn:flare-watchdog:scope:read
- urn:flare-watchdog:scope:write
- urn:flare-watchdog:scope:spend`

/** Recorded texts of other services and permissions. */
const RECORDED: readonly (readonly [SignInMessage, string])[] = [
  [KNOWN, KNOWN_TEXT],
  [
    {
      publicUrl: 'http://127.0.0.1:8080',
      wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      scopes: ['read'],
      nonce: 'ffffffffffffffffffffffffffffffff',
      issuedAt: new Date('2026-02-28T23:59:59.999Z'),
      expiresAt: new Date('2026-03-01T00:04:59.999Z'),
    },
    `127.0.0.1:8080 wants you to sign in with your Ethereum account:
0x70997970C51812dc3A010C7d01b50e0d17dc79C8

Sign in to Watchdog with these permissions: read. This signature costs nothing and moves no funds.

URI: http://127.0.0.1:8080
Version: 1
Chain ID: 14
Nonce: ffffffffffffffffffffffffffffffff
Issued At: 2026-02-28T23:59:59.999Z
Expiration Time: 2026-03-01T00:04:59.999Z
Resources:
- urn:flare-watchdog:scope:read`,
  ],
  [
    {
      publicUrl: 'https://watch.example:8443/under/a/path',
      wallet: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      scopes: ['read', 'spend'],
      nonce: '00000000000000000000000000000001',
      issuedAt: new Date('2099-12-31T00:00:00.000Z'),
      expiresAt: new Date('2099-12-31T00:05:00.000Z'),
    },
    `watch.example:8443 wants you to sign in with your Ethereum account:
0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC

Sign in to Watchdog with these permissions: read, spend. This signature costs nothing and moves no funds.

URI: https://watch.example:8443/under/a/path
Version: 1
Chain ID: 14
Nonce: 00000000000000000000000000000001
Issued At: 2099-12-31T00:00:00.000Z
Expiration Time: 2099-12-31T00:05:00.000Z
Resources:
- urn:flare-watchdog:scope:read
- urn:flare-watchdog:scope:spend`,
  ],
  [
    { ...KNOWN, publicUrl: 'http://[::1]:8080', scopes: ['read', 'write'] },
    `[::1]:8080 wants you to sign in with your Ethereum account:
0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

Sign in to Watchdog with these permissions: read, write. This signature costs nothing and moves no funds.

URI: http://[::1]:8080
Version: 1
Chain ID: 14
Nonce: 0123456789abcdef0123456789abcdef
Issued At: 2026-11-20T15:00:00.000Z
Expiration Time: 2026-11-20T15:05:00.000Z
Resources:
- urn:flare-watchdog:scope:read
- urn:flare-watchdog:scope:write`,
  ],
]

const beforeResources = (line: string) =>
  KNOWN_TEXT.replace('\nResources:', `\n${line}\nResources:`)

const instant = fc.date({
  min: new Date('2020-01-01T00:00:00Z'),
  max: new Date('2099-12-31T00:00:00Z'),
  noInvalidDate: true,
})
const message: fc.Arbitrary<SignInMessage> = fc.record({
  publicUrl: fc.constantFrom(
    'https://watch.example',
    'https://watch.example:8443',
    'https://watch.example/under/a/path',
    'http://127.0.0.1:8080',
    'http://localhost:8080',
    'http://[::1]:8080',
  ),
  wallet: fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`)),
  scopes: fc.subarray(['write', 'spend']).map(grantedScopes),
  nonce: fc.stringMatching(/^[0-9a-f]{32}$/),
  issuedAt: instant,
  expiresAt: instant,
})

describe('the sign-in message', () => {
  test.each(RECORDED)('is the recorded text, byte for byte: %#', async (input, text) => {
    expect(await writeMessage(input)).toBe(text)
    expect(await readMessage(text)).toEqual(input)
  })

  test('differs from a recorded text in the bytes of its fields only', async () => {
    await fc.assert(
      fc.asyncProperty(message, async (input) => {
        const { publicUrl, wallet, scopes, nonce, issuedAt, expiresAt } = input
        const expected = KNOWN_TEXT.replace('watch.example', new URL(publicUrl).host)
          .replace('https://watch.example', publicUrl)
          .replace(KNOWN.wallet, wallet)
          .replace('read, write, spend', scopes.join(', '))
          .replace(KNOWN.nonce, nonce)
          .replace('2026-11-20T15:00:00.000Z', issuedAt.toISOString())
          .replace('2026-11-20T15:05:00.000Z', expiresAt.toISOString())
          .replace(/(?:\n- .*)+$/, scopes.map((s) => `\n- urn:flare-watchdog:scope:${s}`).join(''))
        expect(await writeMessage(input)).toBe(expected)
      }),
    )
  })

  test('is parsed to its original fields', async () => {
    await fc.assert(
      fc.asyncProperty(message, async (input) => {
        expect(await readMessage(await writeMessage(input))).toEqual(input)
      }),
    )
  })

  test.each([
    ['a public URL with a letter beyond ASCII', { publicUrl: 'https://wätch.example' }],
    ['a public URL with a line feed', { publicUrl: 'https://watch.example/\nURI: x' }],
    ['a short nonce', { nonce: '0123456' }],
    ['a nonce with a space', { nonce: '01234567 89' }],
  ])('is not written with %s', async (_, changed) => {
    await expect(writeMessage({ ...KNOWN, ...changed })).rejects.toThrow()
  })

  test('is printable ASCII and line feeds', async () => {
    await fc.assert(
      fc.asyncProperty(message, async (input) => {
        expect(await writeMessage(input)).toMatch(/^[\n\x20-\x7e]+$/)
      }),
    )
  })

  test.each([
    ['nothing', ''],
    ['other words', 'Please sign this'],
    ['another chain', KNOWN_TEXT.replace('Chain ID: 14', 'Chain ID: 1')],
    ['a permission that does not exist', KNOWN_TEXT.replace('scope:spend', 'scope:everything')],
    ['a resource of another service', KNOWN_TEXT.replace('urn:flare-watchdog', 'urn:other')],
    ['no expiry', KNOWN_TEXT.replace(/Expiration Time: .*\n/, '')],
    ['a wrong checksum of the wallet', KNOWN_TEXT.replace('0xf39F', '0xf39f')],
    ['an impossible day', KNOWN_TEXT.replace('2026-11-20T15:00', '2026-02-30T15:00')],
    ['another domain', KNOWN_TEXT.replace(/^watch/, 'other')],
    ['another sentence', KNOWN_TEXT.replace('costs nothing', 'costs little')],
    ['permissions the sentence does not name', KNOWN_TEXT.replace('read, write, spend', 'read')],
    ['a line more', `${KNOWN_TEXT}\n`],
    ['Windows line ends', KNOWN_TEXT.replaceAll('\n', '\r\n')],
    ['a scheme before the domain', `https://${KNOWN_TEXT}`],
    ['a day from which it is valid', beforeResources('Not Before: 2026-11-20T15:00:00.000Z')],
    ['a request id', beforeResources('Request ID: 1')],
    ['a longer form of the chain’s number', KNOWN_TEXT.replace('Chain ID: 14', 'Chain ID: 014')],
    ['no permissions', KNOWN_TEXT.replace(/\nResources:[\s\S]*$/, '')],
    ['a longer form of an instant', KNOWN_TEXT.replace('15:00:00.000Z', '15:00:00.0000Z')],
    [
      'the letters of an instant in lower case',
      KNOWN_TEXT.replace('15:00:00.000Z', '15:00:00.000z'),
    ],
    ['more than 1024 characters', KNOWN_TEXT.replace('Sign in', 'a'.repeat(1024))],
  ])('is not read from %s', async (_, text) => {
    expect(await readMessage(text)).toBeUndefined()
  })

  test('is read or refused, never a crash, from any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyUnicodeCharacter, maxLength: 300 }), async (text) => {
        expect(await readMessage(text)).toBeUndefined()
      }),
    )
  })
})
