import { expect, test } from 'vitest'
import type { Severity } from '#src/kernel/display-values.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { findEventSource } from '#src/watches/events.ts'
import { startPastIncidents } from './past.ts'

const COMMIT = 'fsp.ftso-commit'
const BITVOTE = 'fsp.fdc-bitvote'
const LOW = 'fsp.balance-low'

function candidate(
  event: string,
  position: number,
  { severity = 'warning' as Severity, isNotified = true } = {},
): AlertCandidate {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const { signal, isRecovery } = source
  const about = { type: 'provider-fsp', signal: signal.id, group: signal.group, event, severity }
  const firedAt = new Date(position * 1000)
  const watch = { id: 0 } as AlertCandidate['watch']
  return { ...about, data: {}, position, firedAt, isRecovery, isNotified, watch } as AlertCandidate
}

test('the incidents of a backtest have their parts, the highest severity and the last end, told or not', () => {
  const { add, all } = startPastIncidents()
  add(candidate(COMMIT, 1))
  add(candidate(BITVOTE, 2))
  add(candidate(LOW, 3, { severity: 'info' }))
  add(candidate(COMMIT, 4, { severity: 'critical' }))
  add(candidate(`${COMMIT}.recovered`, 5))
  add(candidate(`${BITVOTE}.recovered`, 6, { isNotified: false }))
  for (let round = 0; round < 30; round += 1) add(candidate(COMMIT, 10 + round))
  expect(
    all().map(({ severity, startedAt, endedAt, parts, count }) => ({
      severity,
      at: [startedAt.getTime() / 1000, endedAt && endedAt.getTime() / 1000],
      parts: parts.length,
      count,
    })),
  ).toEqual([
    { severity: 'critical', at: [1, 6], parts: 4, count: 4 },
    { severity: 'info', at: [3, null], parts: 1, count: 1 },
    ...Array.from({ length: 30 }, (_, round) => ({
      ...{ severity: 'warning', at: [10 + round, null], parts: 1, count: 1 },
    })),
  ])
})
