import { randomBytes } from 'node:crypto'
import {
  chown,
  lstat,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Logger } from '#src/kernel/logger.ts'
import { canEnter, findUnixAccount, runAs, type UnixAccount } from './account.ts'
import { type Binaries, findBinaries, makeOpenDir } from './binaries.ts'

/** A data directory of PostgreSQL on which a server can be started. */
export interface Cluster {
  /** Real path, without symbolic links. */
  readonly path: string
  readonly account: UnixAccount | undefined
  readonly binaries: Binaries
  /** Password of the superuser `postgres`, stored inside the cluster where only its account can read it. */
  readonly password: string
}

interface ClusterOptions {
  readonly dataDir: string
  /**
   * Where files are put if this process runs as root and the server's user has no access to the usual
   * place.
   */
  readonly sharedDir: string
  /** Whether files are flushed to disk (fsync). */
  readonly durable: boolean
  readonly logger: Logger
}

interface NewCluster extends ClusterOptions {
  readonly account: UnixAccount | undefined
  readonly binaries: Binaries
}

const PASSWORD_FILE = 'superuser-password'

/** The file with the password of the superuser. */
export function passwordFileOf(cluster: string): string {
  return join(cluster, PASSWORD_FILE)
}

/**
 * C.UTF-8 is a collation that is built into PostgreSQL, so indexes do not depend on the machine's
 * libraries.
 */
const INITDB_ARGS = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
]

/**
 * Opens the cluster `postgres` in the data directory; creates it if it does not exist.
 *
 * If this process is root, the server of an existing cluster runs as the owner of its files, and that of a
 * new cluster as `postgres`. If that user has no access to the data directory, the cluster is created below
 * `sharedDir`, and the data directory contains a symbolic link to it.
 *
 * @throws Error when the user of an existing cluster has no access to it
 */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const dataDir = resolve(options.dataDir)
  const link = join(dataDir, 'postgres')
  await makeOpenDir(dataDir)
  const isNew = !(await exists(link))
  const account = isNew ? await findUnixAccount() : await ownerOf(await realpath(link))
  const binaries = await findBinaries(account, options.sharedDir, options.logger)
  if (isNew) await createCluster(dataDir, link, { ...options, account, binaries })
  const path = await realpath(link)
  if (!(await canEnter(account, path))) {
    throw new Error(
      `the user of the database in ${path} has no access to it: allow access to its parent folders`,
    )
  }
  const password = await readFile(join(path, PASSWORD_FILE), 'utf8')
  return { path, account, binaries, password: password.trim() }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

async function ownerOf(path: string): Promise<UnixAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = await stat(path)
  if (uid !== 0) return { uid, gid }
  // Root owns the files, for example because root restored a backup, so they are given to the account.
  const account = await findUnixAccount()
  if (account !== undefined) {
    await runAs(undefined, 'chown', ['-R', `${account.uid}:${account.gid}`, path])
  }
  return account
}

/** Creates a cluster atomically. It is safe if two processes do so at once, or one is killed. */
async function createCluster(dataDir: string, link: string, options: NewCluster): Promise<void> {
  const isReachable = await canEnter(options.account, dataDir)
  if (!isReachable) await makeOpenDir(options.sharedDir)
  const draft = await mkdtemp(join(isReachable ? dataDir : options.sharedDir, 'postgres-new-'))
  try {
    const made = await initialise(draft, options)
    if (isReachable) await rename(made, link)
    else await placeElsewhere(made, link, options)
  } catch (error) {
    // A cluster that another process created meanwhile is used instead.
    if (!(await exists(link))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function placeElsewhere(made: string, link: string, options: ClusterOptions): Promise<void> {
  const place = join(options.sharedDir, `data-${randomBytes(6).toString('hex')}`)
  await rename(made, place)
  try {
    await symlink(place, link)
  } catch (error) {
    await rm(place, { recursive: true, force: true })
    throw error
  }
  options.logger.info(
    { place, link },
    'the database is outside the data directory, because its user has no access to the data directory',
  )
}

async function initialise(draft: string, options: NewCluster): Promise<string> {
  const passwordFile = join(draft, PASSWORD_FILE)
  const cluster = join(draft, 'cluster')
  await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
  if (options.account !== undefined) {
    for (const path of [passwordFile, draft])
      await chown(path, options.account.uid, options.account.gid)
  }
  await runAs(options.account, options.binaries.initdb, [
    ...INITDB_ARGS,
    `--pgdata=${cluster}`,
    `--pwfile=${passwordFile}`,
    ...(options.durable ? [] : ['--no-sync']),
  ])
  await rename(passwordFile, join(cluster, PASSWORD_FILE))
  return cluster
}
