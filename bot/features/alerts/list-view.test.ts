import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { alertFilterScreen, alertsDeletionView } from './filter-view.ts'
import { alertList } from './list-view.ts'

const now = new Date('2026-11-20T12:00:00Z')
const reader = { t: translator('en'), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
const filter = { state: 'all', severity: 'critical', time: 'all', watchId: undefined } as const
const many = { count: 10_000, isAll: false }

const labels = ({ rows }: { rows: readonly (readonly { label: string }[])[] }) =>
  rows.flat().map(({ label }) => label)

test('an empty page of a history that goes on says how far it looked, and offers older alerts', () => {
  const searchedTo = new Date('2026-03-04T08:00:00Z')
  const page = { lines: [], nextCursor: 'a.b.c', searchedTo, isOlder: false }
  const options = { now, watch: undefined, buttons: true, canWrite: true }
  const view = alertList(reader, page, filter, options)
  expect(view.html).toMatch(/No match yet, searched back to .*Mar 4/)
  expect(view.html).not.toContain('No matching alerts')
  expect(labels(view)).toContain('Older ›')
  const last = alertList(reader, { ...page, nextCursor: null, searchedTo: null }, filter, options)
  expect(last.html).toContain('No matching alerts')
})

test('a count that ended early is shown nowhere as the number of all', () => {
  const options = { watch: undefined, watchIds: [], counted: many }
  const views = [
    alertFilterScreen(reader, filter, options),
    alertsDeletionView(reader, filter, options),
  ]
  for (const view of views) expect([view.html, ...labels(view)].join(' ')).not.toMatch(/10.?000/)
  expect(labels(views[0] ?? { rows: [] })).toContain('Show alerts')
  expect(views[1]?.html).toContain('too many to count')
})
