import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { startReceiver } from '#sandbox/receiver.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import { findPort } from '#sandbox/world/ports.ts'
import { type Cluster, startCluster } from '../../ops/rehearsal/cluster.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { ROOT } from '../support/service-process.ts'
import { needPrograms } from './needed.ts'

/**
 * The commands of docs/deploy.md, one after another, in a folder like a clone: a stranger's first hour. Stand-ins take the
 * place of the node, of Telegram and of the database's address; all else is as the page says.
 */

const PAGE = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')
const blocksOf = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  )
const [SETTINGS = '', DOCTOR = '', START = '', ...LATER] = blocksOf('sh')
const FLR = 10n ** 18n
/** What would break an address, a shell and a file of settings. */
const PASSWORD = 'a/b#c?d%e f$g"h&i@j:k\\l'

let folder: string
let cluster: Cluster
let devnet: DevnetWithContracts
let telegram: Awaited<ReturnType<typeof startTelegramApi>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
/** Ports of the page and those that are free here. */
let ports: Readonly<Record<string, string>>
let base: string

beforeAll(async () => {
  needPrograms('bash', 'curl', 'pg_dump', 'pg_restore', 'createdb', 'dropdb', 'promtool')
  folder = await mkdtemp(join(tmpdir(), 'watchdog deploy-'))
  const kept = readdirSync(ROOT).filter((name) => name !== '.env' && name !== '.git')
  await Promise.all(kept.map((name) => symlink(join(ROOT, name), join(folder, name))))
  ;[cluster, devnet, telegram, receiver] = await Promise.all([
    startCluster(),
    startDevnet({ contracts: true, blockTimeSeconds: 1 }),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME }),
    startReceiver(),
  ])
  await createRole()
  const names = ['8080', '9090', '8180', '9190']
  const free = await Promise.all(names.map(() => findPort()))
  ports = {
    ...Object.fromEntries(names.map((name, at) => [name, String(free[at])])),
    5432: String(cluster.port),
  }
  base = `http://127.0.0.1:${ports['8080']}`
})
afterAll(async () => {
  const pid = await readFile(join(folder, 'service.pid'), 'utf8').catch(() => undefined)
  if (pid !== undefined) process.kill(Number(pid), 'SIGTERM')
  await Promise.all([telegram.close(), receiver.close(), devnet.close(), cluster.remove()])
  await rm(folder, { recursive: true })
})

/** The role of the page, which needs its password. */
async function createRole(): Promise<void> {
  const quoted = PASSWORD.replaceAll("'", "''")
  const sql = `create role watchdog login createdb password '${quoted}'; alter database watchdog owner to watchdog`
  await cluster.tool('psql', '--dbname=watchdog', '--command', sql)
  const path = await cluster.tool(
    'psql',
    '--tuples-only',
    '--no-align',
    '--command',
    'show hba_file',
  )
  const rules = 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n'
  await writeFile(path.trim(), rules)
  await cluster.tool('psql', '--command', 'select pg_reload_conf()')
}

const onFreePorts = (text: string) =>
  text.replace(/\b(?:8080|9090|8180|9190|5432)\b/g, (port) => ports[port] ?? port)

/** Runs commands of the page. @returns what they print */
async function walk(commands: string): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' }
  const script = `set -o pipefail\n${onFreePorts(commands)}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env })
  return stdout
}

/** The settings of the page, with stand-ins. */
function settings(secretKey: string): ReadonlyMap<string, string> {
  const [page = ''] = blocksOf('ini')
  const lines = [...page.matchAll(/^(\w+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, onFreePorts(value)] as const,
  )
  return new Map([
    ...lines,
    ['SECRET_KEY', secretKey],
    ['PGPASSWORD', `'${PASSWORD}'`],
    ['TELEGRAM_BOT_TOKEN', BOT_TOKEN],
    // Stand-ins.
    ['PUBLIC_URL', base],
    ['PORT', ports['8080'] ?? ''],
    ['INTERNAL_PORT', ports['9090'] ?? ''],
    ['FLARE_RPC_URLS', devnet.rpcUrl],
    ['FLARE_CONTRACT_REGISTRY', devnet.contracts.registry],
    ['TELEGRAM_API_ROOT', telegram.url],
    ['WEBHOOK_ALLOW_PRIVATE', 'true'],
  ])
}

test('the settings of the page are those of .env.example, and the doctor accepts them', async () => {
  const printed = await walk(SETTINGS)
  const path = join(folder, '.env')
  let text = await readFile(path, 'utf8')
  for (const [name, value] of settings(printed.trim())) {
    expect([name, new RegExp(`^${name}=`, 'm').test(text)]).toEqual([name, true])
    text = text.replace(new RegExp(`^${name}=.*$`, 'm'), () => `${name}=${value}`)
  }
  await writeFile(path, text)
  const found = await walk(`${DOCTOR.trim()} || true`)
  expect(found).toMatch(/^ok database: PostgreSQL \d+/m)
  expect(found).toMatch(/^ok endpoint .*/m)
  // The service that would answer there does not run yet.
  const wrong = found.split('\n').filter((line) => line.startsWith('WRONG'))
  expect(wrong.filter((line) => !line.startsWith('WRONG public address'))).toEqual([])
})

async function call(path: string, body: unknown, token?: string) {
  const answer = await fetch(`${base}/api/x402${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  expect([path, answer.status < 300, text]).toEqual([path, true, text])
  return JSON.parse(text)
}

test('the service starts and the first change of a balance is the first alert', async () => {
  const ready = await walk(`${START}\necho $! > service.pid`)
  expect(ready).toContain('"version":')
  const { account } = PEOPLE.alice
  const asked = { wallet: account.address, scopes: ['write'] }
  const { message } = await call('/auth/challenge', asked)
  const signature = await account.signMessage({ message })
  const { token } = await call('/auth/token', { message, signature })
  const recipient = { name: 'Pager', channel: 'webhook', url: receiver.url(), default: true }
  await call('/recipients', recipient, token)
  const watch = {
    ...{ type: 'wallet-balance', target: { address: account.address, asset: 'FLR' } },
    settings: { threshold: '100' },
  }
  const { id } = await call('/watches', watch, token)
  const judged = `select count(*) from targets where observed_at is not null`
  const count = () => cluster.tool('psql', '-d', 'watchdog', '-At', '-c', judged)
  await expect.poll(count, { timeout: 60_000 }).not.toBe('0\n')
  await devnet.transfer(PEOPLE.carol.account.address, account.address, 500n * FLR)
  await expect
    .poll(() => receiver.deliveries.map(({ json }) => json), { timeout: 60_000 })
    .toMatchObject([{ watchId: id }])
}, 180_000)

test('a backup is restored, and a drill with it sends nothing', async () => {
  const before = receiver.deliveries.length
  const calls = telegram.calls.length
  expect(LATER.length).toBe(3)
  const printed = await walk(LATER.join('\n'))
  expect(printed).toContain('"name":"sending"')
  expect(printed).toContain('It sends no messages')
  expect(receiver.deliveries).toHaveLength(before)
  expect(telegram.calls).toHaveLength(calls)
  const names = await cluster.tool('psql', '-At', '-c', 'select datname from pg_database')
  expect(names.split('\n')).not.toContain('restored')
}, 180_000)

test('Prometheus accepts the configuration of the page with the rules', async () => {
  const [configuration = ''] = blocksOf('yaml')
  await writeFile(join(folder, 'prometheus.yml'), configuration)
  const { stdout, status } = spawnSync('promtool', ['check', 'config', 'prometheus.yml'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([0, expect.stringContaining('rules found')])
})

const Config = z.object({
  services: z.record(
    z.string(),
    z.object({
      environment: z.record(z.string(), z.unknown()),
      healthcheck: z.object({ test: z.array(z.string()) }),
    }),
  ),
})
const COMPOSE = ['/usr/bin/docker-compose', '/usr/local/bin/docker-compose'].find(existsSync)

test.skipIf(COMPOSE === undefined)(
  'compose.yaml is valid, and a password of any characters reaches database and service whole',
  async () => {
    const file = join(folder, '.env')
    const text = await readFile(file, 'utf8')
    await writeFile(file, `${text}\nPOSTGRES_PASSWORD='${PASSWORD}'\n`)
    const { stdout, stderr } = spawnSync(COMPOSE ?? '', ['config'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    const toJson = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'
    const json = spawnSync('python3', ['-c', toJson], { input: stdout, encoding: 'utf8' }).stdout
    const { services } = Config.parse(JSON.parse(json))
    // Compose writes a dollar of a value twice.
    const inContainer = (
      { environment }: { environment: Readonly<Record<string, unknown>> },
      name: string,
    ) => String(environment[name]).replaceAll('$$', '$')
    const { postgres, ...own } = services
    expect(postgres && inContainer(postgres, 'POSTGRES_PASSWORD')).toBe(PASSWORD)
    expect(Object.keys(own).toSorted()).toEqual(['api', 'bot', 'delivery', 'watcher'])
    for (const service of Object.values(own)) {
      expect(inContainer(service, 'PGPASSWORD')).toBe(PASSWORD)
      expect(inContainer(service, 'DATABASE_URL')).toBe(
        'postgres://watchdog@postgres:5432/watchdog',
      )
      expect(service.healthcheck.test).toEqual(['CMD', 'node', 'src/probe.ts'])
    }
  },
)
