import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serveChain, titleOnChain } from '#src/kernel/chains.ts'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { cardOf } from '../card/card.ts'
import type { Envelope, EnvelopeMessage, MessageState } from '../envelope.ts'

const FLARE = 14
const COSTON2 = 114

const commit = {
  event: 'fsp.ftso-commit',
  severity: 'warning',
  watchLabel: 'Node A',
  canRecover: true,
} as const

function groupOf(kind: 'group' | 'rollup', over: Partial<EnvelopeMessage> = {}): Envelope {
  const message = {
    ...commit,
    title: titleOnChain('FTSO commit missing in 2 consecutive rounds'),
    ...over,
  }
  const items = [1, 2].map((alertId) => envelopeOf({ message: { ...message, alertId } }).message)
  return envelopeOf({ type: 'provider-fsp', signal: 'ftso-commit', kind, items, message })
}

const headingOf = (envelope: Envelope, state: MessageState = {}) =>
  cardOf(envelope, { state }).title

describe('the heading of a message with several alerts on a test network', () => {
  beforeEach(() => {
    serveChain(COSTON2)
  })
  afterEach(() => {
    serveChain(FLARE)
  })

  const ended = new Map([1, 2].map((id) => [id, { closedAt: new Date('2026-11-20T14:00:00Z') }]))
  test.each<[string, () => Envelope, MessageState]>([
    ['a common cause', () => ({ ...groupOf('group'), cause: { kind: 'silent', rounds: 2 } }), {}],
    ['several watches', () => groupOf('group', { watchLabel: null }), {}],
    ['alerts that have ended', () => groupOf('group'), { items: ended }],
    ['the alerts of a minute', () => groupOf('rollup'), {}],
  ])('ends with its name: %s', (_name, envelope, state) => {
    const heading = headingOf(envelope(), state)
    expect(heading).toMatch(/ · Coston2$/)
    serveChain(FLARE)
    expect(`${headingOf(envelope(), state)} · Coston2`).toBe(heading)
  })

  test('has its name once, in the title of the alert that it leads with', () => {
    expect(headingOf(groupOf('group'))).toBe(
      '\u2068Node A\u2069: FTSO commit missing in 2 consecutive rounds · Coston2 · 1 more alert',
    )
  })
})
