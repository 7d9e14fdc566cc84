import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { makeSecret, signBody, webhookBody } from '#src/channels/hooks/webhook.ts'
import { packClient } from '../generated/client-package.ts'
import { freshDatabase } from '../support/database.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { serviceOnly } from '../support/harness.ts'
import { signIn, withTrial } from '../support/people.ts'
import { startServiceProcess } from '../support/service-process.ts'

/** The package as a customer gets it: packed, installed in a folder of its own, used by the README's programs. */

const run = promisify(execFile)
const EXAMPLES = join(import.meta.dirname, '../../examples/verify/')
const MODULES = join(import.meta.dirname, '../../node_modules/')
const OPTIONS = ['--no-audit', '--no-fund', '--ignore-scripts']
const PROGRAMS = ['sign-in.mjs', 'webhook.mjs'] as const

let folder: string
let readme: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchdog-client-'))
  const packed = await packClient(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await run('npm', ['install', ...OPTIONS, '--offline', packed], { cwd: folder })
  // The dependency of the programs besides the package.
  await symlink(join(MODULES, 'viem'), join(folder, 'node_modules/viem'))
  await symlink(join(MODULES, '@types'), join(folder, 'node_modules/@types'))
  readme = await readFile(join(folder, 'node_modules/flare-watchdog-client/README.md'), 'utf8')
  const programs = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code ?? '')
  expect(programs.length).toBe(PROGRAMS.length)
  for (const [index, name] of PROGRAMS.entries()) {
    await writeFile(join(folder, name), programs[index] ?? '')
  }
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the package has its code, its types, its command, its README and licence, and no dependency', async () => {
  const root = join(folder, 'node_modules/flare-watchdog-client')
  const files = await readdir(root, { recursive: true })
  expect(files.filter((file) => !file.startsWith('dist')).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ])
  expect(files).toContain('dist/index.js')
  expect(files).toContain('dist/index.d.ts')
  expect(files.filter((file) => file.startsWith('dist/cli/'))).toEqual([])
  expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([])
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  )
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined])
  for (const file of files.filter((file) => file.endsWith('.js'))) {
    const code = await readFile(join(root, file), 'utf8')
    const imported = [...code.matchAll(/\bfrom ['"]([^'"]+)['"]/g)].map(([, name]) => name ?? '')
    // The command runs on Node only; the rest runs in browsers, too.
    const isOwn = (name: string) =>
      /^\.\.?\//.test(name) || (file === 'dist/flare-watchdog.js' && name.startsWith('node:'))
    expect(
      imported.filter((name) => !isOwn(name)),
      file,
    ).toEqual([])
  }
})

test('a running service hands the package out: npm installs it from the docs, and it verifies a webhook', async () => {
  const customer = await mkdtemp(join(tmpdir(), 'watchdog-customer-'))
  const database = await freshDatabase()
  const service = await startServiceProcess({ DATABASE_URL: database.url })
  const address = `${service.url}/docs/flare-watchdog-client.tgz`
  await writeFile(join(customer, 'package.json'), '{"private":true,"type":"module"}')
  await run('npm', ['install', ...OPTIONS, '--cache', join(customer, 'cache'), address], {
    cwd: customer,
  })
  const installed = join(customer, 'node_modules/flare-watchdog-client')
  // After a change of the client or of the API: npm run types:api.
  expect(await contentsOf(installed)).toEqual(
    await contentsOf(join(folder, 'node_modules/flare-watchdog-client')),
  )
  await writeFile(
    join(customer, 'verify.ts'),
    await readFile(join(EXAMPLES, 'typescript.ts'), 'utf8'),
  )
  const recorded = ['headers.txt', 'body.txt'].map((name) => join(EXAMPLES, 'vector', name))
  const { stdout } = await run(process.execPath, ['verify.ts', ...recorded, '1795176000'], {
    cwd: customer,
    env: {
      PATH: process.env.PATH,
      WEBHOOK_SECRET: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    },
  })
  expect(stdout).toBe('valid\n')

  const { headers } = await fetch(address)
  expect(headers.get('content-type')).toBe('application/gzip')
  expect(headers.get('cache-control')).toBe('public, max-age=3600')
  const again = await fetch(address, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
  for (const path of ['/docs', '/docs/webhooks']) {
    expect(await (await fetch(service.url + path)).text()).toContain(`npm install ${address}`)
  }
  await service.stop()
  await database.drop()
  await rm(customer, { recursive: true, force: true })
})

/** Each file of a folder with its content. */
async function contentsOf(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()
  const texts = paths.map(async (path) => [relative(root, path), await readFile(path, 'utf8')])
  return Object.fromEntries(await Promise.all(texts))
}

test('the programs of the README compile with the types of the package', async () => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--allowJs', '--checkJs']
  const target = ['--target', 'es2024', '--module', 'nodenext', '--types', 'node']
  const tsc = join(MODULES, '.bin/tsc')
  // The key comes from the environment, whose values are plain texts for the compiler.
  const program = await readFile(join(folder, 'sign-in.mjs'), 'utf8')
  const typed = program.replace('process.env.PRIVATE_KEY', "'0x1'")
  expect(typed).not.toBe(program)
  await writeFile(join(folder, 'typed.mjs'), typed)
  const files = ['typed.mjs', 'webhook.mjs']
  await run(tsc, [...options, ...target, '--ignoreConfig', ...files], { cwd: folder })
})

test.each([
  ['DOM', ['es2022', 'dom'], []],
  ['WebWorker', ['es2022', 'webworker'], []],
  ['types of Node', ['es2022'], ['node']],
])('the types of the package compile with %s, libraries checked', async (_what, lib, types) => {
  await writeFile(join(folder, 'lib.ts'), "export * from 'flare-watchdog-client'\n")
  const compilerOptions = { lib, types, strict: true, module: 'nodenext', target: 'es2022' }
  const config = { compilerOptions: { ...compilerOptions, noEmit: true }, files: ['lib.ts'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await run(join(MODULES, '.bin/tsc'), ['--project', '.'], { cwd: folder })
})

test('the first program of the README signs in and creates a watch', async () => {
  const port = await freePort()
  const service = await serviceOnly({ PUBLIC_URL: `http://127.0.0.1:${port}` })
  await service.server.listen({ port, host: '127.0.0.1' })
  const env = {
    PATH: process.env.PATH,
    WATCHDOG_URL: `http://127.0.0.1:${port}/api/x402`,
    PRIVATE_KEY: PEOPLE.alice.privateKey,
  }
  const go = () => run(process.execPath, ['sign-in.mjs'], { cwd: folder, env })
  const first = await go()
  const second = await go()
  await service.close()
  expect(first.stdout).toBe('watch 1 is active\n1 wallet-balance\n')
  expect(second.stdout).toBe('all slots are taken\n1 wallet-balance\n')
})

test('the command of the package shows a plan, applies it, and then finds nothing to change', async () => {
  const service = await serviceOnly()
  const address = await service.server.listen({ port: 0, host: '127.0.0.1' })
  const alice = await withTrial(await signIn(service, 'alice'))
  await writeFile(
    join(folder, 'watches.yaml'),
    `watches:\n  Own: { type: wallet-balance, target: { address: ${PEOPLE.bob.account.address}, asset: FLR }, settings: { threshold: '5' } }\n`,
  )
  const env = { PATH: process.env.PATH, WATCHDOG_URL: address, WATCHDOG_TOKEN: alice.token }
  const command = join(folder, 'node_modules/.bin/flare-watchdog')
  const go = (...args: string[]) =>
    run(command, [...args, 'watches.yaml'], { cwd: folder, env }).then(
      ({ stdout }) => [0, stdout],
      ({ code, stdout }) => [code, stdout],
    )
  const plan = await go('plan')
  const apply = await go('apply')
  const again = await go('plan')
  await service.close()
  expect(plan).toEqual([2, expect.stringContaining('1 to create, 0 to change, 0 to delete.')])
  expect(apply).toEqual([0, expect.stringContaining('created watch "Own"')])
  expect(again).toEqual([
    0,
    '! watch "Own" notifies nobody\n\nNo change: the service is as the file says.\n',
  ])
})

test('the second program of the README accepts a genuine webhook once and refuses a forged one', async () => {
  const secret = makeSecret()
  const port = await freePort()
  const env = { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: String(port) }
  const program = spawn(process.execPath, ['webhook.mjs'], { cwd: folder, env })
  const output = text(program.stdout)
  await new Promise((resolve) => program.stdout.once('data', resolve))
  const data = { address: '0x01', currentAmount: '5' }
  const body = webhookBody(envelopeOf({ data }))
  const timestamp = Math.floor(Date.now() / 1000)
  const post = async (key: string) => {
    const headers = {
      'x-watchdog-timestamp': String(timestamp),
      'x-watchdog-signature': signBody(key, timestamp, body),
    }
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
    return status
  }
  expect([await post(secret), await post(secret), await post(makeSecret())]).toEqual([
    204, 204, 400,
  ])
  program.kill()
  expect(await output).toBe('ready\n0x01: 5\n')
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
