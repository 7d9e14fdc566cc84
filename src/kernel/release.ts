import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import release from '../../package.json' with { type: 'json' }

/** Version of this release, such as `0.1.0`: that of `package.json`. */
export const { version: VERSION } = release

/** What a process runs. */
export interface Release {
  readonly version: string
  /** As `readCommit` returns it. */
  readonly commit: string
  /** Key of the chain, such as `flare`. */
  readonly chain: string
}

const ROOT = join(import.meta.dirname, '../..')

/**
 * The commit of the running code, as 12 hex digits. The image has it in the file `COMMIT`, a checkout in its `.git`.
 *
 * @param root folder of the code
 * @returns `unknown` if neither says so, as in an archive of the sources
 */
export function readCommit(root = ROOT): string {
  const found = readText(join(root, 'COMMIT')) ?? headOf(join(root, '.git'))
  return /^[0-9a-f]{40}$/.test(found ?? '') ? String(found).slice(0, 12) : 'unknown'
}

/** The commit that is checked out. In a further work tree `.git` is a file that names a folder. */
function headOf(git: string): string | undefined {
  const folder = /^gitdir: (.+)$/.exec(readText(git) ?? '')?.[1] ?? git
  const head = readText(join(folder, 'HEAD'))
  const branch = /^ref: (.+)$/.exec(head ?? '')?.[1]
  if (branch === undefined) return head
  const common = join(folder, readText(join(folder, 'commondir')) ?? '.')
  const packed = readText(join(common, 'packed-refs'))?.split('\n') ?? []
  return (
    readText(join(common, branch)) ??
    packed.find((line) => line.endsWith(` ${branch}`))?.slice(0, 40)
  )
}

/** The text of a file without white space at its ends; undefined if it cannot be read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
