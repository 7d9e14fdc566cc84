import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a process that could not read the package of e-mails once sends the next one', async () => {
  const script = fileURLToPath(new URL('mailer-after-failed-load.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  const [first, second] = JSON.parse(stdout)
  expect(first).toContain('EMFILE')
  expect(second).toContain('ECONNREFUSED')
})
