import { cp, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../ops/release/git.ts'
import { ROOT } from './service-process.ts'

const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'tag.gpgSign=false']

/** A repository of git with files of this checkout as they are now, and its packages. */
export interface Repository {
  readonly folder: string
  /** Commits every file. */
  commit(): Promise<void>
  /** Makes an annotated tag of the last commit. */
  tag(name: string): Promise<void>
}

/** Creates a repository in a folder of its own, with one commit. */
export async function createRepository(paths: readonly string[]): Promise<Repository> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-repository-'))
  // What git ignores here, such as the compiled client, must not be there either.
  const filter = (path: string) => !/[\\/](?:node_modules|dist)(?:[\\/]|$)/.test(path)
  for (const path of paths)
    await cp(join(ROOT, path), join(folder, path), { recursive: true, filter })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await git(folder, ['init', '--quiet'])
  await writeFile(join(folder, '.git/info/exclude'), 'node_modules\n')
  const commit = async () => {
    await git(folder, ['add', '--all'])
    await git(folder, [...WHO, 'commit', '--quiet', '--no-gpg-sign', '--message', 'files'])
  }
  const tag = async (name: string) => {
    await git(folder, [...WHO, 'tag', '--annotate', '--message', name, name])
  }
  await commit()
  return { folder, commit, tag }
}
