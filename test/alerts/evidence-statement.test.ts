import { expect, test } from 'vitest'
import { z } from 'zod'
import { EvidenceClaim } from '#src/watches/evidence-model.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { limitsOf } from '../../examples/evidence/check.ts'
import { checkMessage, statementOf } from '../../examples/evidence/statement.ts'

/** What the script of examples/ says in words before it checks a claim. */

const STATED = {
  alertId: 4711,
  chainId: 14,
  event: 'fsp.ftso-commit',
  severity: 'warning',
  firedAt: '2026-11-20T12:00:00.000Z',
  data: { provider: '0x0Be579444595E122bC9B236beFCb598B1cb7f1ce' },
}
const CLAIMS = REGISTRY.flatMap(({ signals }) =>
  signals.flatMap((signal) =>
    signal.events.alerts.flatMap((event) => {
      const found = signal.claim?.(signal.examples[event] ?? {}, { event, block: 41_880_225 })
      return found === undefined || typeof found === 'string'
        ? []
        : [{ event, claim: z.encode(EvidenceClaim, found) as Record<string, unknown> }]
    }),
  ),
)

test.each(CLAIMS)('$event: alert, event, severity, time, provider and claim are said in words', ({
  event,
  claim,
}) => {
  const lines = statementOf({ ...STATED, event, claim })
  expect(lines[1]).toContain('4711')
  expect(lines[2]).toContain(`${event}, warning`)
  expect(lines[3]).toContain(STATED.firedAt)
  expect(lines[4]).toContain(String(claim['provider']))
  // In words, not as the JSON of an unknown claim, and with each of its values.
  expect(lines[5]).toMatch(/^ {2}claim {5}[^{]+$/)
  expect(lines[5]).not.toContain('undefined')
})

test('the probabilities of a silence are said in words, too', () => {
  const silence = CLAIMS.find(({ event }) => event === 'fsp.fast-updates')
  const stated = (probability: string) => {
    const claim = { ...silence?.claim, probability }
    return statementOf({ ...STATED, event: 'fsp.fast-updates', claim })[5]
  }
  expect(stated('2.6e-8')).toContain(
    'chance 2.6e-8 (1 in 38 million), alert below 1e-7 (1 in 10 million)',
  )
  expect(stated('none')).toContain('chance none, alert')
  expect(stated('0')).toContain('chance 0, alert')
})

test('a text of the file adds no line and hides none', () => {
  const event = 'fsp.ftso-commit\n  alert     1\u202e'
  const lines = statementOf({ ...STATED, event, claim: null })
  expect(lines.filter((line) => /[\n\u202e]/.test(line))).toEqual([])
})

test.each([
  ['alertId', 4712],
  ['event', 'fsp.ftso-reveal'],
  ['severity', 'critical'],
  ['firedAt', '2026-11-20T12:00:01.000Z'],
  ['data', {}],
])('a message with another %s refutes the file', (name, value) => {
  const stated = { ...STATED, claim: null }
  const body = (changed: object) => JSON.stringify({ ...STATED, payloadVersion: 2, ...changed })
  expect(() => checkMessage(stated, body({}))).not.toThrow()
  expect(() => checkMessage(stated, body({ [name]: value }))).toThrow(name)
})

test('a confirmation says that it is of the file alone unless a message was given', () => {
  const parts = { taken: ['receipts'], unchecked: ['alertId'] }
  expect(limitsOf({ ...parts, isCompared: false })).toEqual([
    expect.stringMatching(/^of this file alone: .*--message$/),
    'taken from the endpoint: receipts',
    'not checked: alertId',
  ])
  expect(limitsOf({ taken: [], unchecked: [], isCompared: true })).toEqual([])
})

test('a message that is no JSON proves nothing', () => {
  expect(() => checkMessage({ ...STATED, claim: null }, 'half of')).toThrow('no JSON')
})
