import { expect, test } from 'vitest'
import { z } from 'zod'
import { EvidenceClaim } from '#src/watches/evidence-model.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { limitsOf } from '../../examples/evidence/check.ts'
import { decodeClaim } from '../../examples/evidence/file.ts'
import { checkMessage, statementOf } from '../../examples/evidence/statement.ts'

/** What the script of examples/ says in words before it checks a claim. */

const STATED = {
  alertId: 4711,
  chainId: 14,
  event: 'fsp.balance-low',
  severity: 'warning',
  firedAt: '2026-11-20T12:00:00.000Z',
  data: {
    provider: '0x0be579444595e122bc9b236befcb598b1cb7f1ce',
    role: 'submit',
    address: '0x0be579444595e122bc9b236befcb598b1cb7f1cf',
    balanceWei: '18200000000000000000',
    limitWei: '25000000000000000000',
  },
} as const
const CLAIMS = REGISTRY.flatMap(({ signals }) =>
  signals.flatMap((signal) =>
    signal.events.alerts.flatMap((event) => {
      const found = signal.claim?.(signal.examples[event] ?? {}, { event, block: 41_880_225 })
      return found === undefined || typeof found === 'string'
        ? []
        : [{ event, claim: decodeClaim(z.encode(EvidenceClaim, found)) }]
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
  expect(lines[4]).toContain(claim.provider)
  // In words, not as the JSON of an unknown claim, and with each of its values.
  expect(lines[5]).toMatch(/^ {2}claim {5}[^{]+$/)
  expect(lines[5]).not.toContain('undefined')
})

test('the probabilities of a silence are said in words, too', () => {
  const silence = CLAIMS.find(({ event }) => event === 'fsp.fast-updates')?.claim
  const stated = (probability: string) => {
    const claim = decodeClaim({ ...silence, probability })
    return statementOf({ ...STATED, event: 'fsp.fast-updates', claim })[5]
  }
  expect(stated('2.6e-8')).toContain(
    'chance 2.6e-8 (1 in 38 million), alert below 1e-7 (1 in 10 million)',
  )
  expect(stated('0.0e+0')).toContain('chance 0.0e+0, alert')
})

test.each([
  ['alertId', 4712],
  ['event', 'fsp.balance-low.recovered'],
  ['severity', 'critical'],
  ['firedAt', '2026-11-20T12:00:01.000Z'],
  ['data', { ...STATED.data, limitWei: '26000000000000000000' }],
])('a message with another %s refutes the file', (name, value) => {
  const body = (changed: object) => JSON.stringify({ ...STATED, payloadVersion: 2, ...changed })
  expect(() => checkMessage(STATED, body({}))).not.toThrow()
  expect(() => checkMessage(STATED, body({ [name]: value }))).toThrow(name)
})

test('a confirmation says that it is of the file alone unless a message was given', () => {
  const parts = { taken: ['receipts'], unchecked: ['alertId'] }
  expect(limitsOf({ ...parts, isCompared: false })).toEqual([
    expect.stringMatching(/^of this file alone: .*--message$/),
    'taken from the endpoints: receipts',
    'not checked: alertId',
  ])
  expect(limitsOf({ taken: [], unchecked: [], isCompared: true })).toEqual([])
})

test('a message that is no JSON proves nothing', () => {
  expect(() => checkMessage(STATED, 'half of')).toThrow('no JSON')
})
