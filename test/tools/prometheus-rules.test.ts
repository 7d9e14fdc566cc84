import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { needPrograms } from './needed.ts'

beforeAll(() => needPrograms('promtool'))

test.each([
  'ops/prometheus',
  'examples/provider',
])('every rule of %s fires in its test', (folder) => {
  const file = join(import.meta.dirname, '../..', folder, 'rules.test.yaml')
  const { status, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})
