import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { startDataUpstream } from '#sandbox/world/data-upstream.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { ROOT, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { createYearOfPartitions, withDatabase } from './database.ts'
import { fillHooks, type WalletWithHook } from './delivery-hooks.ts'
import { fillWallets, type TokenOwner } from './metering.ts'
import { findPostmaster } from './scale-cpu.ts'
import { turnAutovacuumOff } from './scale-rest.ts'
import { startServer } from './start-server.ts'
import { waitUntil } from './wait-until.ts'

/** Number of watched balances; their watches have no recipient. */
export const TARGET_COUNT = 10_000
/** Wallets with a token, and webhooks, in a full load of one process. */
export const TOKEN_OWNER_COUNT = 1000
export const HOOK_COUNT = 100
/** Webhooks of one host. */
const HOOKS_OF_HOST = 5
/** Number of the address before the first target's. */
const FIRST_ADDRESS = 16_777_216

/** A PostgreSQL, a chain, receivers and a data upstream, without the service. */
export interface ScaleWorld {
  readonly databaseUrl: string
  readonly connection: Connection
  readonly postmaster: number
  readonly devnet: Devnet
  /** Webhooks of many hosts, a few of each; those of a host do not follow each other. */
  readonly hooks: readonly WalletWithHook[]
  readonly oneHostHooks: readonly WalletWithHook[]
  /** URL of the receiver of webhooks. */
  readonly receiverUrl: string
  readonly owners: readonly TokenOwner[]
  /**
   * Starts `count` processes of the service, each with all roles, and waits until all targets are
   * observed.
   */
  start(count: number): Promise<readonly ServiceProcess[]>
  startOne(): Promise<ServiceProcess>
}

/** Address of a target. */
export function addressOf(index: number): `0x${string}` {
  return `0x${(FIRST_ADDRESS + index).toString(16).padStart(40, '0')}`
}

/**
 * Creates a world, runs work in it, and deletes it.
 *
 * @param processesMax each of them can have a full load of its own
 */
export async function withScaleWorld<T>(
  processesMax: number,
  work: (world: ScaleWorld) => Promise<T>,
): Promise<T> {
  const devnet = await startDevnet()
  const rpc = await startRpcProxy(devnet.rpcUrl)
  const data = await startDataUpstream({ clock: systemClock })
  const receiver = await startServer('./delivery-receiver.ts', '')
  const [receiverUrl = ''] = receiver.url.split(' ')
  try {
    return await withDatabase(
      async (databaseUrl) => {
        const connection = connect(databaseUrl, { statementTimeoutMs: 0 })
        try {
          await createYearOfPartitions(connection, systemClock.now())
          const owners = await fillWallets(databaseUrl, TOKEN_OWNER_COUNT * processesMax)
          const hookCount = HOOK_COUNT * processesMax
          const oneHostHooks = await fillHooks(connection, receiverUrl, hookCount)
          const hooks = await fillHooksOfHosts(connection, receiverUrl, hookCount)
          await turnAutovacuumOff(connection.sql)
          await fillTargets(connection)
          const startOne = () =>
            startServiceProcess(
              {
                DATABASE_URL: databaseUrl,
                FLARE_RPC_URLS: rpc.url,
                CONFIRMATIONS: '1',
                EVALUATION_INTERVAL_MS: '500',
                METERED_UPSTREAMS: JSON.stringify(data.urls),
              },
              ROOT,
            )
          return await work({
            databaseUrl,
            connection,
            postmaster: await findPostmaster(connection.sql),
            devnet,
            hooks,
            oneHostHooks,
            receiverUrl,
            owners,
            startOne,
            start: async (count) => {
              const started = await Promise.all(Array.from({ length: count }, startOne))
              await devnet.mine(2, 1)
              await untilSeen(connection)
              return started
            },
          })
        } finally {
          await connection.close()
        }
      },
      { durable: true, countsStatements: true },
    )
  } finally {
    receiver.stop()
    await Promise.all([rpc.close(), data.close()])
    await devnet.close()
  }
}

/** Fills webhooks whose hosts are addresses of this machine, as many for each full load. */
async function fillHooksOfHosts(
  connection: Connection,
  receiverUrl: string,
  count: number,
): Promise<readonly WalletWithHook[]> {
  const hosts: (readonly WalletWithHook[])[] = []
  for (let host = 1; host <= count / HOOKS_OF_HOST; host += 1) {
    const url = new URL(receiverUrl)
    url.hostname = `127.0.1.${host}`
    hosts.push(await fillHooks(connection, url.href, HOOKS_OF_HOST))
  }
  const hostsOfLoad = HOOK_COUNT / HOOKS_OF_HOST
  return Array.from({ length: count }, (_, index) => {
    const load = Math.floor(index / HOOK_COUNT)
    const inLoad = index % HOOK_COUNT
    const host = load * hostsOfLoad + (inLoad % hostsOfLoad)
    const hook = hosts[host]?.[Math.floor(inLoad / hostsOfLoad)]
    if (hook === undefined) throw new Error('there are no receivers')
    return hook
  })
}

async function fillTargets({ sql }: Connection): Promise<void> {
  const targets = Array.from({ length: TARGET_COUNT }, (_, index) => {
    const target = { address: addressOf(index), asset: 'FLR' }
    return { key: canonicalJson(target), target }
  })
  await sql`
    insert into targets (type, key, target, watch_count, must_judge)
    select 'wallet-balance', key, target, 1, true
    from jsonb_to_recordset(${sql.json(targets)}::jsonb) as t(key text, target jsonb)`
  await sql`
    insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select ${PEOPLE.bob.account.address}, type, id, 'Bench ' || id,
      '{"threshold":"1","direction":"any"}', '[]', 'info', 0, 'active', 1, now(), now()
    from targets`
  await sql`analyze`
}

/** Waits until every watch is evaluated up to the newest block that the service reads. */
export async function untilEvaluated({
  connection: { sql },
  devnet,
}: Pick<ScaleWorld, 'connection' | 'devnet'>): Promise<void> {
  const head = Number(await devnet.client.getBlockNumber())
  await waitUntil(`block ${head} is evaluated`, async () => {
    const [row] = await sql<{ block: string | null }[]>`
      select min(block_number) as block from observation_cursors where type = 'wallet-balance'`
    return Number(row?.block ?? 0) >= head
  })
}

/** Waits until each target has an observation: changes before the first one raise no alert. */
async function untilSeen({ sql }: Connection): Promise<void> {
  await waitUntil('all targets are seen', async () => {
    const [row] = await sql<{ missing: number }[]>`
      select count(*)::int as missing from targets where observation is null`
    return row?.missing === 0
  })
}
