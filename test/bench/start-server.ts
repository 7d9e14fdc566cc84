import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A server of a benchmark, in a process of its own. */
export interface BenchServer {
  readonly url: string
  readonly pid: number
  stop(): void
}

/** Starts a script of this folder as a server. The script prints its address when it listens. */
export async function startServer(name: string, ...args: readonly string[]): Promise<BenchServer> {
  const script = join(import.meta.dirname, name)
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: String(line), pid: child.pid ?? 0, stop: () => child.kill() }
}
