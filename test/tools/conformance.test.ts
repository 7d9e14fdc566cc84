import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceOnly } from '../support/harness.ts'

/**
 * The door of agents against the conformance suite of the protocol, which npm brings. Its other scenarios ask for tools,
 * resources and prompts of its own, or for a server that serves localhost only.
 */
const SUITE = '@modelcontextprotocol/conformance@0.1.16'
const INSTALL_MS = 120_000

let service: Awaited<ReturnType<typeof serviceOnly>>
let folder: string
let url: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  await promisify(execFile)(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', SUITE],
    {
      cwd: folder,
    },
  )
  service = await serviceOnly()
  url = `${await service.server.listen({ port: 0, host: '127.0.0.1' })}/mcp`
}, INSTALL_MS)
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

test.each(['server-initialize', 'ping', 'tools-list'])('%s conforms', async (scenario) => {
  const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const args = [suite, 'server', '--url', url, '--scenario', scenario]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
  expect(stdout).toContain('Passed: 1/1, 0 failed, 0 warnings')
})
