import { describe, expect, test } from 'vitest'
import type { Envelope } from '#src/channels/envelope.ts'
import { pictureOf } from './picture-rules.ts'

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'

const alert = (event: string, data: object = { provider: PROVIDER }) =>
  ({ data, message: { event: `fsp.${event}`, watchLabel: 'Alpha' } }) as unknown as Envelope

function group(parts: readonly Envelope[], over: Partial<Envelope> = {}): Envelope {
  const items = parts.map(({ message }) => message)
  return { kind: 'group', items, ...over } as unknown as Envelope
}

const commit = alert('ftso-commit')
const reveal = alert('ftso-reveal')
const outage = { kind: 'outage', provider: PROVIDER, name: 'Alpha' }

describe('a picture follows', () => {
  test('a message about several failed duties', () => {
    expect(pictureOf(group([commit, reveal]), [commit, reveal])).toEqual(outage)
  })

  test('the message that the second failed duty joins', () => {
    expect(pictureOf(group([commit, reveal]), [reveal])).toEqual(outage)
  })

  test('the recovery of everything', () => {
    const over = [alert('ftso-commit.recovered'), alert('ftso-reveal.recovered')]
    const healthy = group(over, { cause: { kind: 'healthy' } })
    expect(pictureOf(healthy, over)).toEqual({ ...outage, kind: 'recovery' })
    expect(pictureOf(group(over), over)).toBeUndefined()
  })
})

describe('no picture follows', () => {
  test.each<readonly [string, Envelope, readonly Envelope[]]>([
    ['one failed duty', { ...group([commit]), kind: 'alert' }, [commit]],
    ['one duty that failed twice', group([commit, commit]), [commit, commit]],
    ['other alerts', group([alert('balance-low'), alert('fdc-consensus')]), [alert('balance-low')]],
    ['a roll-up', group([commit, reveal], { kind: 'rollup' }), [commit, reveal]],
    ['a reminder', group([commit, reveal], { of: 'reminder' }), [commit, reveal]],
    ['a change without news', group([commit, reveal]), []],
    ['a recovery in it', group([commit, reveal]), [alert('ftso-commit.recovered')]],
    ['an unknown provider', group([commit, reveal]), [alert('ftso-commit', {})]],
  ])('%s', (_, envelope, added) => {
    expect(pictureOf(envelope, added)).toBeUndefined()
  })
})
