import { expect, test } from 'vitest'
import { silentLogger } from './logger.ts'
import { createQuarantine } from './quarantine.ts'

test('a row is logged as an error and counted once an hour, however often it fails', () => {
  const lines: unknown[] = []
  const log = { ...silentLogger, error: (fields: Record<string, unknown>) => lines.push(fields) }
  const quarantine = createQuarantine({ log })
  for (let i = 0; i < 3; i++) quarantine.add('alert', 7, new Error('does not decode'))
  quarantine.add('alert', 8, new Error('does not decode'))
  quarantine.add('watch', 7, new Error('does not decode'))
  expect(lines).toHaveLength(3)
  expect(quarantine.read()).toEqual([
    { kind: 'alert', rows: 2 },
    { kind: 'watch', rows: 1 },
  ])
})
