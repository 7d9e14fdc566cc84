import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A release has the annotated tag `v` and its version. */
export const tagOf = (version: string) => `v${version}`
const TAG = /^v\d+\.\d+\.\d+$/

/**
 * Runs git in a folder.
 *
 * @returns its output, without the white space at the end
 * @throws Error with what git says
 */
export async function git(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...process.env, ...environment }
  const { stdout } = await run('git', [...args], { cwd: folder, env, maxBuffer: 1 << 26 })
  return stdout.trimEnd()
}

/**
 * Writes the files of a commit into a new folder, without anything that git does not know. The repository may be shallow;
 * neither its index nor its work tree changes.
 *
 * @throws Error when there is no such commit, or the folder cannot be written
 */
export async function writeTree(repository: string, commit: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const index = join(folder, '.index')
  const own = { GIT_INDEX_FILE: index }
  await git(repository, ['read-tree', commit], own)
  await git(repository, ['checkout-index', '--all', '--quiet', `--prefix=${folder}/`], own)
  await rm(index, { force: true })
}

/**
 * The newest release before the commit that is checked out; undefined if its history, which may be shallow, has no tag of
 * one.
 */
export async function lastReleaseTag(repository: string): Promise<string | undefined> {
  const list = async (...where: readonly string[]) => {
    const tags = await git(repository, ['tag', '--list', '--sort=-version:refname', ...where])
    return tags.split('\n').filter((tag) => TAG.test(tag))
  }
  const own = await list('--points-at', 'HEAD')
  const before = await list('--merged', 'HEAD')
  return before.find((tag) => !own.includes(tag))
}
