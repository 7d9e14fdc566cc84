import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ENDPOINT_KINDS } from './endpoint-kinds.ts'

test('a wrong kind of endpoint is answered with the kinds that there are', () => {
  const program = join(import.meta.dirname, 'main.ts')
  const args = [program, 'endpoint', 'per-minute-3000']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toBe(
    `no such kind of endpoint: per-minute-3000. There are: ${Object.keys(ENDPOINT_KINDS).join(', ')}\n`,
  )
}, 20_000)
