import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createReadableLog } from './readable-log.ts'
import type { World, WorldOptions } from './world.ts'

/** Environment variables that the sandbox reads. It chooses all other settings of the service itself. */
const Environment = z.object({
  ANVIL_PATH: z.string().optional(),
  PORT: z.coerce.number().int().min(1).max(65535).optional(),
  INTERNAL_PORT: z.coerce.number().int().min(1).max(65535).optional(),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug', 'silent']).default('warn'),
})

const USAGE = `Usage: main.ts [tour] [--port <number>]

  (nothing)   starts the service with all it needs on this machine, and prints the addresses
  tour        goes from the sign-in to a deleted watch there, and prints the result of each step
  --port      of the sandbox's pages: 8090, or any free port if that is taken;
              the tour always takes a free port
`

const print = (line: string) => process.stdout.write(`${line}\n`)
// Writing to a closed terminal is an error. Without a handler it would end the process before all is stopped.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (!stopping.signal.aborted) print('Stopping …')
    stopping.abort(new Error('stopped'))
  })
}
process.exitCode = await main()

async function main(): Promise<number> {
  const asked = readArguments()
  if (asked === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const environment = readEnvironment()
  if (environment === undefined) return 2
  const log = createReadableLog(environment.LOG_LEVEL, (line) => process.stderr.write(`${line}\n`))
  const common = { log, anvilPath: environment.ANVIL_PATH, signal: stopping.signal }
  // Loaded on demand, so that a wrong call is answered at once.
  if (asked.isTour) {
    const { runTour } = await import('./tour.ts')
    return (await runTour({ ...common, print })) ? 0 : 1
  }
  return runSandbox({
    ...common,
    port: asked.port,
    servicePort: environment.PORT,
    internalPort: environment.INTERNAL_PORT,
  })
}

async function runSandbox(options: WorldOptions): Promise<number> {
  const since = performance.now()
  print('Starting PostgreSQL, a chain, Telegram, mail, a receiver and Watchdog …')
  let world: World
  try {
    const { startWorld } = await import('./world.ts')
    world = await startWorld(options)
  } catch (error) {
    if (error === stopping.signal.reason) return farewell()
    process.stderr.write(`The sandbox does not start: ${reasonOf(error)}\n`)
    return 1
  }
  print(welcome(world, (performance.now() - since) / 1000))
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  await world.close()
  return farewell()
}

function farewell(): number {
  print('Stopped. Nothing is left.')
  return 0
}

function welcome(world: World, seconds: number): string {
  const { url, service, rpc, xrpl, telegram, inbox, receiver, database } = world
  const places = [
    ['Start here', `${url}/`],
    ['Chat', `${url}/chat`],
    ['Inbox', `${url}/inbox`],
    ['Receiver', `${url}/receiver`],
    ['Hooks', `${url}/hooks`],
    ['Happen', `${url}/happen`],
    ['', ''],
    ['Watchdog', `${service.publicUrl}/`],
    ['REST', `${service.publicUrl}/api/x402`],
    ['Health', `${service.internalUrl}/readyz`],
    ['Chain 14', rpc.url],
    ['XRP Ledger', xrpl.url],
    ['Bot API', `${telegram.url} (@${telegram.bot.username})`],
    ['Mail', inbox.url],
    ['Webhooks', receiver.url()],
    ['PostgreSQL', database],
  ]
  const lines = places.map(([name = '', place = '']) => `  ${name.padEnd(12)}${place}`.trimEnd())
  return ['', `Ready after ${seconds.toFixed(1)} s.`, '', ...lines, '', 'Stop with Ctrl-C.'].join(
    '\n',
  )
}

function readArguments():
  | { readonly isTour: boolean; readonly port: number | undefined }
  | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { port: { type: 'string' } },
    })
    const [command, ...others] = positionals
    const port = values.port === undefined ? undefined : Number(values.port)
    const isPort = port === undefined || (Number.isInteger(port) && port >= 0 && port < 65536)
    if ((command !== undefined && command !== 'tour') || others.length > 0 || !isPort)
      return undefined
    return { isTour: command === 'tour', port }
  } catch {
    return undefined
  }
}

function readEnvironment(): z.output<typeof Environment> | undefined {
  const set = Object.entries(process.env).filter(([, value]) => value !== '')
  const parsed = Environment.safeParse(Object.fromEntries(set))
  if (parsed.success) return parsed.data
  for (const { path, message } of parsed.error.issues) {
    process.stderr.write(`${String(path[0])} is wrong: ${message}\n`)
  }
  return undefined
}

function reasonOf(error: unknown): string {
  if (error instanceof SuppressedError) {
    return `${reasonOf(error.suppressed)}; then ${reasonOf(error.error)}`
  }
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message} (${reasonOf(error.cause)})`
}
