import { expect, test } from 'vitest'
import type { DeliveryEntry } from '#src/delivery/model.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { type ExplainedFacts, explain } from './explain.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 8, minute))
const wallet = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const alert = {
  ...{ id: 219, wallet, watchId: 7, watchLabel: 'Alpha', event: 'fsp.ftso-commit', incidentId: 3 },
  ...{ type: 'provider-fsp', signal: 'ftso-commit', severity: 'warning', episodeSeverity: null },
  ...{ firedAt: at(0), createdAt: at(1), notifiedAt: at(1), recoveryOf: null, recoveredAt: null },
  ...{ acknowledgedAt: null, acknowledgedBy: null, mutedAt: null, escalatedAt: null },
  ...{ escalatedTo: null, cooldownUntil: null, remindAt: null, during: null },
}
const recipient = {
  ...{ id: 4, wallet, channel: 'telegram', name: 'Ops', target: 'a chat', status: 'active' },
  ...{
    statusReason: null,
    switchedAt: at(-9),
    failingSince: null,
    mutedUntil: null,
    createdAt: at(-9),
  },
}
const candidate = {
  ...{ id: 4, channel: 'telegram', isGroup: false, isFollower: false, status: 'active' },
  ...{ minSeverity: 'info', byDefault: true },
}
const watch = { id: 7, recipientIds: null, minSeverity: 'info' }
const entry = {
  ...{ deliveryId: 'd', recipientId: 4, channel: 'telegram', attempts: 2, lastStatusCode: 502 },
  ...{ lastError: 'status_502', nextAttemptAt: at(9), deliveredAt: null },
}
// Rows of the tables have more columns than what is explained.
const facts = {
  ...{ alert, watch, recipientId: 4, recipient, candidates: [candidate] },
  ...{ settings: DEFAULT_SETTINGS, deliveries: [], now: at(10) },
} as unknown as ExplainedFacts
const delivery = (status: DeliveryEntry['status'], more: object = {}) => ({
  ...facts,
  deliveries: [{ ...entry, status, ...more } as DeliveryEntry],
})
const withCandidate = (more: object) =>
  ({ ...facts, candidates: [{ ...candidate, ...more }] }) as unknown as ExplainedFacts
const withAlert = (more: object) => ({ ...facts, alert: { ...facts.alert, ...more } })
const withWatch = (more: object) => ({ ...facts, watch: { ...watch, ...more } }) as ExplainedFacts

test.each<[string, ExplainedFacts]>([
  [
    'retrying|failed, and will be tried again (2 attempts, last status 502, last error status_502, next at 2026-11-20T08:09:00.000Z)',
    delivery('retrying'),
  ],
  ['delivered|was delivered (2 attempts', delivery('delivered', { deliveredAt: at(2) })],
  ['pending|waits for its first attempt', delivery('pending')],
  ['failed|was given up', delivery('failed')],
  ['held|waits for a summary', delivery('held')],
  ['muted|the alert or its watch was muted', delivery('muted')],
  ['throttled|hourly messages', delivery('throttled')],
  ['disabled|the recipient was off', delivery('disabled')],
  ['gone|recipient 4 does not exist (any more)', { ...facts, recipient: undefined }],
  [
    'other wallet|it belongs to 0x1, not',
    { ...facts, recipient: { ...facts.recipient, wallet: '0x1' } as never },
  ],
  [
    'maintenance|it fired in planned maintenance, in which nobody is sent anything: it is sent if',
    withAlert({ notifiedAt: null, during: 'maintenance', event: 'fsp.ftso-commit' }),
  ],
  [
    'maintenance, ended|and it ended before that did',
    withAlert({ during: 'maintenance', event: 'fsp.ftso-commit', recoveredAt: at(5) }),
  ],
  [
    'maintenance, never sent|so it is never sent',
    withAlert({ during: 'maintenance', event: 'balance.changed' }),
  ],
  [
    'retention over|what became of messages is kept for 30 days',
    { ...facts, now: new Date(at(1).getTime() + 31 * 86_400_000) },
  ],
  [
    'no recipients|the wallet has no recipients',
    { ...facts, recipient: undefined, candidates: [] },
  ],
  ['inhibited|another open alert is its cause', withAlert({ notifiedAt: null })],
  [
    'added later|the recipient was added after the alert',
    { ...facts, recipient: { ...facts.recipient, createdAt: at(2) } as never },
  ],
  ['watch deleted|the watch was deleted since', { ...facts, watch: undefined }],
  [
    'watch’s severity|the watch sends alerts from critical on',
    withWatch({ minSeverity: 'critical' }),
  ],
  [
    'others named|the watch names other recipients: 9',
    {
      ...withWatch({ recipientIds: [9] }),
      candidates: [facts.candidates[0], { ...candidate, id: 9 }] as never,
    },
  ],
  ['no default|this one is not a default one', withCandidate({ byDefault: false })],
  [
    'its severity|the recipient wants alerts from critical on',
    withCandidate({ minSeverity: 'critical' }),
  ],
  [
    'settings|the wallet’s people want alerts from critical on',
    { ...facts, settings: { ...DEFAULT_SETTINGS, minSeverity: 'critical' } },
  ],
  [
    'group|it is a group, which gets no alerts about credits',
    { ...withCandidate({ isGroup: true }), alert: { ...facts.alert, type: 'credits-balance' } },
  ],
  [
    'recovery|the wallet’s people want no recoveries',
    { ...withAlert({ recoveryOf: 218 }), settings: { ...DEFAULT_SETTINGS, recoveries: false } },
  ],
  ['unknown|nothing that is set now says why', facts],
])('explains why an alert did not arrive: %s', (words, explained) => {
  const [, text] = words.split('|')
  expect(explain(explained).join('\n')).toContain(text)
})

test('tells the life of an alert in the order of time', () => {
  const lines = explain(
    withAlert({ acknowledgedAt: at(4), acknowledgedBy: 'Olga', recoveredAt: at(9) }),
  )
  expect(lines.slice(1, 6)).toEqual([
    '2026-11-20T08:00:00.000Z fired on the chain or in the ledger',
    '2026-11-20T08:01:00.000Z recorded',
    '2026-11-20T08:01:00.000Z messages were written',
    '2026-11-20T08:04:00.000Z acknowledged by Olga',
    '2026-11-20T08:09:00.000Z ended',
  ])
})
