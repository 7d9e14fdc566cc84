import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findPort } from '#sandbox/world/ports.ts'
import { builtProgram } from './built-program.ts'
import { PROCESS_ENVIRONMENT, testEnvironment } from './environment.ts'

/** The service in a separate process, like `npm start`. */
export interface ServiceProcess {
  readonly pid: number
  /** Milliseconds from the start of the process to its line `ready`. */
  readonly readyMs: number
  readonly url: string
  /** Address of its health and metrics. */
  readonly internalUrl: string
  /** Messages of its log lines so far, in order. */
  readonly messages: readonly string[]
  /** Its log lines so far, in order. */
  readonly lines: readonly string[]
  /** Those of level `error`. */
  readonly errors: readonly string[]
  /** Number of its log lines by level. */
  readonly levels: ReadonlyMap<string, number>
  /** Stops the process with SIGTERM. */
  stop(): Promise<void>
  /** Ends the process with SIGKILL, and waits until it has ended. */
  kill(): Promise<void>
}

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '../../')

/** The arguments of `npm start` in a folder, without npm. */
function startIn(root: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return String(scripts.start).split(' ').slice(2)
}

/**
 * Starts the service with the test environment and the given variables, and waits until it is ready. By default it
 * starts the program built for this run; with `root` it starts the sources in that folder, as `npm start` does.
 *
 * @param root folder of the code, such as that of another release
 */
export async function startServiceProcess(
  over: Readonly<Record<string, string>>,
  root?: string,
): Promise<ServiceProcess> {
  const [port, internalPort] = [await findPort(), await findPort()]
  const built = root === undefined ? builtProgram('service') : undefined
  const env = {
    ...(built?.env ?? PROCESS_ENVIRONMENT),
    ...testEnvironment({
      LOG_LEVEL: 'info',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      ...over,
    }),
  }
  const startedAt = performance.now()
  const start = startIn(root ?? ROOT)
  const args = built === undefined ? start : [...start.slice(0, -1), built.path]
  const child = spawn(process.execPath, args, {
    cwd: root ?? ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const log: Log = { lines: [], messages: [], errors: [], levels: new Map() }
  await untilReady(child, log)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  return {
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedAt,
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    ...log,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

interface Log {
  readonly lines: string[]
  readonly messages: string[]
  readonly errors: string[]
  readonly levels: Map<string, number>
}

async function untilReady(child: ChildProcess, log: Log): Promise<void> {
  const { lines, messages, errors, levels } = log
  if (child.stdout === null || child.stderr === null) throw new Error('the process has no output')
  const complaints: string[] = []
  const isReady = Promise.withResolvers<void>()
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)))
  createInterface({ input: child.stdout })
    .on('line', (line) => {
      const message = messageOf(line)
      lines.push(line)
      messages.push(message)
      if (line.includes('"level":"error"')) errors.push(line)
      const level = /"level":"(\w+)"/.exec(line)?.[1] ?? ''
      levels.set(level, (levels.get(level) ?? 0) + 1)
      if (message === 'ready') isReady.resolve()
    })
    .on('close', () => {
      isReady.reject(
        new Error(`the service did not start:\n${[...complaints, ...lines].join('\n')}`),
      )
    })
  await isReady.promise
}

function messageOf(line: string): string {
  try {
    return String(JSON.parse(line).msg)
  } catch {
    return line
  }
}
