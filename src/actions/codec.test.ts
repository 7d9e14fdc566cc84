import fc from 'fast-check'
import { getAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import { runs } from '../../test/support/runs.ts'
import { packed, unpacked, VERB_NAMES, type Verb, watchBehind } from './codec.ts'
import { VERBS } from './verbs.ts'

const id = fc.integer({ min: 1, max: 2_147_483_647 })
const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
const word = fc.stringMatching(/^[a-z0-9]{1,3}$/)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const duration = fc.constantFrom('1h', '8h', '24h', '7d', '8am', 'rec', '0')

/** Every value an argument can have, by its name; by verb and name where verbs differ. */
const ARGUMENTS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  id,
  recipient: id,
  windowId: fc.stringMatching(/^[\w-]{1,36}$/),
  page: fc.integer({ min: 1, max: 1295 }),
  index: fc.integer({ min: 0, max: 46_655 }),
  rev: fc.integer({ min: 0, max: 1_679_615 }),
  count: fc.integer({ min: 0, max: 1295 }),
  minutes: fc.integer({ min: 0, max: 1295 }),
  quantity: fc.integer({ min: 0, max: 1295 }),
  periods: fc.integer({ min: 0, max: 46_655 }),
  code: fc.stringMatching(/^[A-Za-z0-9_-]{22}$/),
  locale: fc.constantFrom(...LOCALES),
  type: fc.stringMatching(/^[a-z][a-z-]{0,19}$/),
  signal: fc.stringMatching(/^[a-z][a-z0-9-]{0,19}$/),
  parameter: fc.stringMatching(/^[a-zA-Z]{1,14}$/),
  feed: fc.stringMatching(/^[A-Za-z0-9_.+-]{1,16}\/[A-Za-z0-9_.+-]{1,8}$/),
  group: fc.constantFrom(...SIGNAL_GROUPS),
  field: fc.stringMatching(/^[a-z]{2,4}$/),
  value: fc.stringMatching(/^[\w.+-]{1,14}$/),
  'signal.set.value': fc.stringMatching(/^[\w.+-]{1,5}$/),
  signals: fc.constantFrom('all', 'crt', 'def'),
  duration,
  part: fc.constantFrom('w', 'c', 'd', 'm'),
  'demo.part': fc.constantFrom('s', 'a', 'q', 'm', 'd', 'S', 'A', 'Q', 'M', 'D'),
  opened: maybe(fc.integer({ min: 0, max: 4_000_000_000 })),
  acknowledged: fc.boolean(),
  muted: fc.boolean(),
  open: maybe(fc.constantFrom('w', 'c', 'd', 'm')),
  spend: fc.boolean(),
  on: fc.boolean(),
  renew: fc.boolean(),
  next: fc.stringMatching(/^[a-z]{1,8}$/),
  topic: maybe(fc.stringMatching(/^[a-z]{1,8}$/)),
  terms: hex(8),
  term: fc.integer({ min: 0, max: 99 }),
  chat: fc.integer({ min: -9_999_999_999_999, max: -1 }),
  'rec.group.topic': maybe(id),
  what: fc.constantFrom('ack', 'mute', 'rec'),
  rights: maybe(word),
  'new.type.address': maybe(hex(40).map((text) => getAddress(`0x${text}`))),
  address: hex(40).map((text) => getAddress(`0x${text}`)),
  watch: id,
  handle: hex(64).map((text) => `0x${text}`),
  asset: fc.stringMatching(/^[A-Za-z0-9._-]{1,11}$/),
  credits: fc.integer({ min: 1, max: 999_999_999 }),
  cursor: maybe(fc.stringMatching(/^[\w.-]{1,24}$/)),
  zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/ComodRivadavia', 'Etc/GMT+12'),
  to: fc.constantFrom('here', 'all'),
  mailbox: fc.stringMatching(/^[\x21-\x39\x3b-\x7e]{3,53}$/),
  level: word,
  region: word,
  choice: word,
  kind: word,
  filter: fc.record({
    time: fc.constantFrom('all', '24h', '7d', '30d'),
    watchId: maybe(id),
  }),
}

/** Every verb with every argument it can have. */
const PRESSES = fc.oneof(
  ...VERB_NAMES.map((verb) => {
    const names = Object.keys(VERBS[verb])
    const args = fc.record(
      Object.fromEntries(
        names.map((name) => {
          const argument = ARGUMENTS[`${verb}.${name}`] ?? ARGUMENTS[name]
          if (argument === undefined) throw new Error(`nothing is known of ${name}`)
          return [name, argument]
        }),
      ),
    )
    return args.map((values) => ({ data: pack(verb, values), press: { verb, args: values } }))
  }),
)

/** The arguments fit the verb, which the compiler cannot follow through a table. */
function pack(verb: Verb, args: Readonly<Record<string, unknown>>): string {
  return packed(verb as 'watch.card', args as { id: number })
}

describe('button data', () => {
  test('has the version, the verb and its arguments', () => {
    expect(packed('watch.pause', { id: 42 })).toBe('1:watch.pause:16')
    expect(packed('home')).toBe('1:home')
  })

  test('is decoded to what was encoded, and has at most 64 bytes', () => {
    fc.assert(
      fc.property(PRESSES, ({ data, press: expected }) => {
        expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64)
        expect(data).toMatch(/^[ -~]+$/)
        expect(unpacked(data)).toEqual(expected)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('is generated for every verb in these tests', () => {
    const seen = new Set(fc.sample(PRESSES, 5000).map((sample) => sample.press.verb))
    expect([...seen].sort()).toEqual([...VERB_NAMES].sort())
  })

  test('is refused when it is cut off, too long or malformed', () => {
    for (const data of [
      '',
      '1',
      '1:',
      'home',
      '0:home',
      '2:home',
      '1:home:',
      '1:home:1',
      '1:watch.card',
      '1:watch.card:',
      '1:watch.card:0',
      '1:watch.card:016',
      '1:watch.card:16:1',
      '1:watch.card:-1',
      '1:watch.card:zik0zk',
      '1:watch.card:ZZ',
      '1:watch.list:100',
      '1:settings.langSet:xx',
      '1:link.yes:short',
      '1:toString',
      '1:__proto__',
      '1:constructor:1',
    ]) {
      expect(unpacked(data), data).toBeUndefined()
    }
  })

  test('is decoded or refused without an error, whatever its text', () => {
    fc.assert(fc.property(fc.string(), (data) => void unpacked(data)))
    fc.assert(fc.property(fc.string(), (data) => void watchBehind(data)))
  })

  test('is not encoded from arguments that could not be decoded', () => {
    expect(() => packed('watch.card', { id: 0 })).toThrow()
    expect(() => packed('watch.list', { page: 1296 })).toThrow()
    expect(() => packed('link.yes', { code: 'a:b' })).toThrow()
  })

  test('names its watch even if the verb no longer exists, or the version is another', () => {
    expect(watchBehind('1:watch.mute:16')).toBe(42)
    expect(watchBehind('0:watch.set:16:thr:250')).toBe(42)
    expect(watchBehind('2:signal.card:16:ftso-commit')).toBe(42)
    expect(watchBehind('1:alert.card:16')).toBeUndefined()
    expect(watchBehind('0:watch.list:2')).toBeUndefined()
    expect(watchBehind('1:watch.card:zzzzzzz')).toBeUndefined()
  })
})
