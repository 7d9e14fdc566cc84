import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { alertList } from './list-view.ts'

const now = new Date('2026-11-20T12:00:00Z')
const reader = { t: translator('en'), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
const filter = { time: 'all', watchId: 1 } as const

const labels = ({ rows }: { rows: readonly (readonly { label: string }[])[] }) =>
  rows.flat().map(({ label }) => label)

test('an empty page of a history that goes on says how far it looked, and offers older alerts', () => {
  const searchedTo = new Date('2026-03-04T08:00:00Z')
  const page = { lines: [], nextCursor: 'a.b.c', searchedTo, isOlder: false }
  const watch = { id: 1, label: 'Alpha', isGone: false }
  const options = { now, watch, buttons: true }
  const view = alertList(reader, page, filter, options)
  expect(view.html).toMatch(/No matches yet\. Searched back to .*Mar 4/)
  expect(view.html).not.toContain('No matching alerts')
  expect(labels(view)).toContain('Older ›')
  const last = alertList(reader, { ...page, nextCursor: null, searchedTo: null }, filter, options)
  expect(last.html).toContain('No matching alerts')
  expect(labels(last)).toEqual(['‹ \u2068Alpha\u2069', 'All watches'])
})
