/** Runs the packed client in runtimes other than Node, against a server that answers, refuses and redirects. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { build } from 'esbuild'
import { makeSecret, signBody } from '#src/channels/hooks/webhook.ts'
import { packClient } from '../generated/client-package.ts'

const execute = promisify(execFile)
const PATIENCE_MS = 60_000
const NOW_SECONDS = 1_800_000_000
const BODY = JSON.stringify({ payloadVersion: 2, event: 'fsp.monitoring', data: {} })

const PROBLEM = {
  type: 'https://watchdog.example.org/problems/invalid_token',
  title: 'Invalid token',
  ...{ status: 401, detail: 'The token is unknown.', code: 'invalid_token', requestId: 'r' },
}

/** A runtime. */
export interface Runtime {
  readonly name: string
  /**
   * Runs `check.mjs` of the folder and returns what it found.
   *
   * @param programs the folder `node_modules/.bin` with the runtime
   */
  run(folder: string, programs: string): Promise<string>
}

/** A program that prints what the check found. */
const MAIN = `import { check } from './check.mjs'\nconsole.log(await check())\n`
/** A worker that answers with it. */
const WORKER = `import { check } from './check.mjs'
export default { fetch: async () => new Response(await check().catch((e) => e.stack)) }\n`

/** The runtimes by their programs for x86 Linux with glibc. */
export const RUNTIMES: readonly Runtime[] = [
  {
    name: 'client in Deno',
    run: async (folder, programs) => {
      const flags = ['run', '--allow-net', '--node-modules-dir=manual', '--no-lock', 'main.mjs']
      return (await execute(join(programs, 'deno'), flags, { cwd: folder })).stdout
    },
  },
  {
    name: 'client in Bun',
    run: async (folder, programs) => {
      // Its install script, where scripts run, moves the program.
      const unmoved = join(programs, '../@oven/bun-linux-x64/bin/bun')
      const bun = existsSync(unmoved) ? unmoved : join(programs, 'bun')
      return (await execute(bun, ['main.mjs'], { cwd: folder })).stdout
    },
  },
  { name: 'client in workerd', run: runInWorkerd },
]

/**
 * Installs the packed client in a folder, and writes the programs that use it.
 *
 * @returns what ends the server that they ask
 */
export async function prepareRuntimes(
  folder: string,
): Promise<{ readonly stolen: () => number; close(): void }> {
  const { origin, ...server } = await startServer()
  await packClient(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const flags = ['--ignore-scripts', '--offline']
  await execute('npm', ['install', ...flags, './flare-watchdog-client.tgz'], { cwd: folder })
  const secret = makeSecret()
  const headers = {
    'x-watchdog-timestamp': String(NOW_SECONDS),
    'x-watchdog-signature': signBody(secret, NOW_SECONDS, BODY),
  }
  const given = { origin, secret, headers, body: BODY, nowSeconds: NOW_SECONDS }
  await writeFile(join(folder, 'check.mjs'), checkProgram(JSON.stringify(given)))
  await writeFile(join(folder, 'main.mjs'), MAIN)
  return server
}

/** Compares what a runtime printed with what every runtime must find. @throws Error if they differ */
export function expectSame(printed: string): void {
  const expected = {
    stats: { watches: 1 },
    refused: 'invalid_token',
    redirected: 'unexpected_answer',
    verified: 'fsp.monitoring',
    forged: 'wrong signature',
  }
  if (!isDeepStrictEqual(JSON.parse(printed), expected)) throw new Error(`found ${printed}`)
}

const checkProgram = (given: string) => `
import { Watchdog, WatchdogError, verifyWebhook } from 'flare-watchdog-client'
const { origin, secret, headers, body, nowSeconds } = ${given}
const codeOf = (call) =>
  call.then(() => 'no error', (error) => (error instanceof WatchdogError ? error.code : String(error)))
export async function check() {
  const watchdog = new Watchdog({ baseUrl: origin, token: 'fwd_of_this_check', retries: 0 })
  const request = { secret, headers: new Headers(headers), nowSeconds }
  return JSON.stringify({
    stats: await watchdog.getStats(),
    refused: await codeOf(watchdog.getSettings()),
    redirected: await codeOf(watchdog.listWatches()),
    verified: (await verifyWebhook({ ...request, body })).event,
    forged: await verifyWebhook({ ...request, body: body + ' ' }).then(() => 'taken', (error) => error.reason),
  })
}
`

/** A server that answers one call, refuses one, and redirects one to where a token would be stolen. */
async function startServer() {
  let stolen = 0
  const server = createServer(({ url }, response) => {
    if (url === '/stolen') stolen += 1
    if (url === '/watches') {
      response.writeHead(302, { location: '/stolen' }).end()
      return
    }
    const [status, type, body] =
      url === '/settings'
        ? [401, 'application/problem+json', PROBLEM]
        : [200, 'application/json', { watches: 1 }]
    response.writeHead(Number(status), { 'content-type': String(type) }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    stolen: () => stolen,
    close: () => server.close().closeAllConnections(),
  }
}

async function runInWorkerd(folder: string, programs: string): Promise<string> {
  await writeFile(join(folder, 'worker.mjs'), WORKER)
  const bundle = { bundle: true, format: 'esm', outfile: join(folder, 'bundle.mjs') } as const
  await build({ entryPoints: [join(folder, 'worker.mjs')], ...bundle, logLevel: 'silent' })
  const port = await freePort()
  await writeFile(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main), (name = "internet", network = (allow = ["local", "private"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
);
const main :Workerd.Worker = (
  modules = [ (name = "worker", esModule = embed "bundle.mjs") ], compatibilityDate = "2026-01-01"
);
`,
  )
  const path = join(programs, '../@cloudflare/workerd-linux-64/bin/workerd')
  const program = spawn(path, ['serve', 'config.capnp'], {
    cwd: folder,
    stdio: 'ignore',
  })
  try {
    const endsAt = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await (await fetch(`http://127.0.0.1:${port}`)).text()
      } catch (error) {
        if (performance.now() > endsAt || program.exitCode !== null) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  } finally {
    program.kill()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
