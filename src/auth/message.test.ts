import { ParsedMessage } from '@spruceid/siwe-parser'
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
  test('is this text, byte for byte', () => {
    expect(writeMessage(KNOWN)).toBe(KNOWN_TEXT)
  })

  test('is parsed to its original fields', () => {
    fc.assert(
      fc.property(message, (input) => {
        expect(readMessage(writeMessage(input))).toEqual(input)
      }),
    )
  })

  test('is an EIP-4361 text with these fields to the parser of its authors', () => {
    fc.assert(
      fc.property(message, (input) => {
        const parsed = new ParsedMessage(writeMessage(input))
        expect(parsed).toMatchObject({
          domain: new URL(input.publicUrl).host,
          address: input.wallet,
          uri: input.publicUrl,
          version: '1',
          chainId: 14,
          nonce: input.nonce,
          issuedAt: input.issuedAt.toISOString(),
          expirationTime: input.expiresAt.toISOString(),
          resources: input.scopes.map((scope) => `urn:flare-watchdog:scope:${scope}`),
        })
      }),
    )
  })

  test.each([
    ['a public URL with a letter beyond ASCII', { publicUrl: 'https://wätch.example' }],
    ['a public URL with a line feed', { publicUrl: 'https://watch.example/\nURI: x' }],
    ['a short nonce', { nonce: '0123456' }],
    ['a nonce with a space', { nonce: '01234567 89' }],
  ])('is not written with %s', (_, changed) => {
    expect(() => writeMessage({ ...KNOWN, ...changed })).toThrow(
      'cannot be written into a sign-in message',
    )
  })

  test('is printable ASCII and line feeds', () => {
    fc.assert(
      fc.property(message, (input) => {
        expect(writeMessage(input)).toMatch(/^[\n\x20-\x7e]+$/)
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
    ['more than 4096 characters', KNOWN_TEXT.replace('Sign in', 'a'.repeat(4096))],
  ])('is not read from %s', (_, text) => {
    expect(readMessage(text)).toBeUndefined()
  })

  test('is read or refused, never a crash, from any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyUnicodeCharacter, maxLength: 300 }), (text) => {
        expect(readMessage(text)).toBeUndefined()
      }),
    )
  })
})
