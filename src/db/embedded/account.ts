import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The unprivileged user a server runs as when we are root; undefined: as we are ourselves. */
export interface UnixAccount {
  readonly uid: number
  readonly gid: number
}

const NAME = 'postgres'

/** Every way of making a system user that the common systems have. */
const MAKERS: readonly (readonly (readonly string[])[])[] = [
  [['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/bin/false', NAME]],
  [
    ['addgroup', '-S', NAME],
    ['adduser', '-S', '-D', '-H', '-s', '/bin/false', '-G', NAME, NAME],
  ],
]

/**
 * Who a new server runs as, since PostgreSQL refuses to run as root: the user `postgres`, made if
 * there is none.
 *
 * @throws Error when we are root and can neither find nor make that user
 */
export async function findAccount(): Promise<UnixAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const found = await lookUp()
  if (found !== undefined) return found
  for (const commands of MAKERS) {
    for (const [command = '', ...args] of commands) await run(command, args).catch(() => undefined)
    const made = await lookUp()
    if (made !== undefined) return made
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user ${NAME} can be neither found nor made: run as another user, or set DATABASE_URL`,
  )
}

async function lookUp(): Promise<UnixAccount | undefined> {
  try {
    const uid = await run('id', ['-u', NAME])
    const gid = await run('id', ['-g', NAME])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

/**
 * Runs a program as that account, with an environment that holds nothing of ours.
 *
 * @throws Error with what the program wrote to its standard error
 */
export async function runAs(
  account: UnixAccount | undefined,
  command: string,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await run(command, [...args], { ...account, env: PLAIN_ENVIRONMENT, cwd: '/' })
  return stdout
}

/** Enough for PostgreSQL's programs; our own environment holds secrets. */
export const PLAIN_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

/** Whether the account can reach a folder, all the way from the root. */
export async function canEnter(account: UnixAccount | undefined, folder: string): Promise<boolean> {
  try {
    await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder])
    return true
  } catch {
    return false
  }
}
