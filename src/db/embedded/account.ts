import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The unprivileged user as which a server runs when this process is root; undefined for the user of this
 * process.
 */
export interface UnixAccount {
  readonly uid: number
  readonly gid: number
}

const NAME = 'postgres'

/** Commands that create a system user, one for each family of systems. */
const MAKERS: readonly (readonly (readonly string[])[])[] = [
  [['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/bin/false', NAME]],
  [
    ['addgroup', '-S', NAME],
    ['adduser', '-S', '-D', '-H', '-s', '/bin/false', '-G', NAME, NAME],
  ],
]

/**
 * Finds the user as which a new server runs, because PostgreSQL refuses to run as root: `postgres`, created
 * if missing.
 *
 * @throws Error when this process is root and can neither find nor create that user
 */
export async function findUnixAccount(): Promise<UnixAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const account = await lookUp()
  if (account !== undefined) return account
  for (const commands of MAKERS) {
    for (const [command = '', ...args] of commands) {
      await run(command, args, { env: PLAIN_ENVIRONMENT }).catch(() => undefined)
    }
    const made = await lookUp()
    if (made !== undefined) return made
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user ${NAME} can be neither found nor created: run as another user, or set DATABASE_URL`,
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
 * Runs a program as an account, with an environment that contains no variable of this process.
 *
 * @throws Error with the program's standard error
 */
export async function runAs(
  account: UnixAccount | undefined,
  command: string,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await run(command, [...args], { ...account, env: PLAIN_ENVIRONMENT, cwd: '/' })
  return stdout
}

/**
 * Environment of PostgreSQL's programs and of those that create users. The environment of this process is not used,
 * because it contains secrets, and because the path of a job of cron lacks the folders of administration.
 */
export const PLAIN_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
}

/** Whether the account has access to a folder and to all its parent folders. */
export async function canEnter(account: UnixAccount | undefined, folder: string): Promise<boolean> {
  try {
    await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder])
    return true
  } catch {
    return false
  }
}
