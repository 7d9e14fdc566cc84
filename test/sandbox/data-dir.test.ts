import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDataDir } from '#sandbox/world/data-dir.ts'

let base: string
const host = hostname().replaceAll(/[^\w.]/g, '_')

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'data-dir-test-'))
})
afterEach(() => rm(base, { recursive: true, force: true }))

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn('true')
  await once(child, 'close')
  return child.pid ?? 0
}

test('the folder of a sandbox is deleted when it stops', async () => {
  const dir = await makeDataDir(base)
  expect(await readdir(base)).toHaveLength(1)
  await dir.remove()
  expect(await readdir(base)).toEqual([])
})

test('folders of killed sandboxes are removed, and the databases that they link to in other folders', async () => {
  const elsewhere = join(base, 'elsewhere')
  const stale = join(base, `watchdog-sandbox-${host}-${await deadPid()}-aBcDeF`)
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, 'PG_VERSION'), '18\n')
  await mkdir(stale)
  await symlink(elsewhere, join(stale, 'postgres'))
  const dir = await makeDataDir(base)
  expect(await readdir(base)).toEqual([dir.path.slice(base.length + 1)])
})

test('folders of running sandboxes, of other machines and of other programs stay', async () => {
  const pid = await deadPid()
  const kept = [
    `watchdog-sandbox-${host}-${process.pid}-aBcDeF`,
    `watchdog-sandbox-${host}-1-aBcDeF`,
    `watchdog-sandbox-not.${host}-${pid}-aBcDeF`,
    `watchdog-test-${pid}`,
  ]
  for (const name of kept) await mkdir(join(base, name))
  const dir = await makeDataDir(base)
  await dir.remove()
  expect((await readdir(base)).toSorted()).toEqual(kept.toSorted())
})
