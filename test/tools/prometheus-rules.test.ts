import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { needPrograms } from './needed.ts'

beforeAll(() => needPrograms('promtool'))

test('every rule of Prometheus fires in its test', () => {
  const file = join(import.meta.dirname, '../../ops/prometheus/rules.test.yaml')
  const { status, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})
