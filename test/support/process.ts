import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { findPort } from '#src/sandbox/world/ports.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { PROCESS_ENVIRONMENT, testEnvironment } from './environment.ts'

/** The service in a process of its own, as `npm start` runs it. */
export interface ServiceProcess {
  readonly pid: number
  /** Milliseconds from the start of the process to its line `ready`. */
  readonly readyMs: number
  readonly url: string
  /** Orderly, by SIGTERM. */
  stop(): Promise<void>
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
}

const ROOT = new URL('../../', import.meta.url).pathname

/** What `npm start` runs, without npm. */
const [, ...START] = packageJson.scripts.start.split(' ')

/** Starts `src/main.ts` with the test environment and what is given, and waits until it is ready. */
export async function startServiceProcess(
  over: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const port = await findPort()
  const env = {
    ...PROCESS_ENVIRONMENT,
    ...testEnvironment({
      LOG_LEVEL: 'info',
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      ...over,
    }),
  }
  const startedAt = performance.now()
  const child = spawn(process.execPath, START, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  await untilReady(child)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  return {
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedAt,
    url: `http://127.0.0.1:${port}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null || child.stderr === null) throw new Error('the process has no output')
  const lines: string[] = []
  child.stderr.on('data', (chunk) => lines.push(String(chunk)))
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.includes('"msg":"ready"')) {
      child.stdout.resume()
      return
    }
  }
  throw new Error(`the service did not start:\n${lines.join('\n')}`)
}
