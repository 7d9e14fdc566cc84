import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import packageJson from '../../package.json' with { type: 'json' }
import { databaseFolder } from '../support/database-folder.ts'
import { PROCESS_ENVIRONMENT } from '../support/environment.ts'
import type { Measurement } from './report.ts'
import { waitUntil } from './wait-until.ts'

const HOURS = 24
const HOUR_SECONDS = 3600
const CHAIN_MIB_MAX = 500
const PROCESS_MIB_MAX = 300
const ROOT = join(import.meta.dirname, '../../')
/** The command of `npm run sandbox`: a setting of the environment, then the program and its arguments. */
const [SETTING = '', , , ...START] = packageJson.scripts.sandbox.split(' ')

/**
 * Runs the sandbox for 24 simulated hours, and measures the peak memory of anvil and of the sandbox process. Then
 * kills it (SIGKILL), starts it again, and counts the files and processes of the first run that remain.
 */
export async function benchSandbox(): Promise<readonly Measurement[]> {
  const folder = await mkdtemp(join(await databaseFolder(), 'watchdog-bench-'))
  await chmod(folder, 0o755)
  try {
    const first = await startSandbox(folder)
    await playDay(first)
    const sandbox = peakMiB(first.pid)
    const chain = peakMiB(first.chainPid)
    const before = await readdir(folder)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const second = await startSandbox(folder)
    const left = (await readdir(folder)).filter((name) => before.includes(name))
    const processes = [first.chainPid].filter(isAlive)
    second.child.kill('SIGTERM')
    await once(second.child, 'exit')
    return [
      memory('anvil', chain, CHAIN_MIB_MAX),
      memory('the sandbox process', sandbox, PROCESS_MIB_MAX),
      count('files of a killed sandbox that the next start does not remove', left.length),
      count(
        'anvil processes of a killed sandbox that still run after the next start',
        processes.length,
      ),
      count('files left after SIGTERM', (await readdir(folder)).length),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Sandbox {
  readonly child: ChildProcess
  readonly pid: number
  readonly chainPid: number
  readonly url: string
  readonly rpcUrl: string
}

async function startSandbox(folder: string): Promise<Sandbox> {
  const child = spawn(process.execPath, [...START, '--port', '0'], {
    cwd: ROOT,
    env: { ...PROCESS_ENVIRONMENT, ...Object.fromEntries([SETTING.split('=')]), TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const places = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name = '', url = ''] = /^ {2}(\S.*?) {2,}(http\S+)/.exec(line) ?? []
    places.set(name, url)
    if (line.startsWith('Stop with')) break
  }
  const [url, rpcUrl] = [places.get('Start here'), places.get('Chain 14')]
  const { pid } = child
  if (url === undefined || rpcUrl === undefined || pid === undefined) {
    throw new Error('the sandbox did not start')
  }
  return { child, pid, url, rpcUrl, chainPid: findChain(pid) }
}

async function playDay({ url, rpcUrl }: Sandbox): Promise<void> {
  let at = await chainTime(rpcUrl)
  for (let hour = 0; hour < HOURS; hour += 1) {
    const { status } = await fetch(`${url}happen/time-1h`, { method: 'POST', redirect: 'manual' })
    if (status !== 303) throw new Error(`POST /happen/time-1h responded with ${status}`)
    const end = at + HOUR_SECONDS
    await waitUntil('the chain is an hour further', async () => (await chainTime(rpcUrl)) >= end)
    at = await chainTime(rpcUrl)
  }
}

async function chainTime(rpcUrl: string): Promise<number> {
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  }
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  return Number((await response.json()).result.timestamp)
}

/** Process id of the anvil that is a descendant of a process. */
function findChain(pid: number): number {
  const children = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      const program = /^Name:\s+(.*)$/m.exec(status)?.[1]
      return [{ pid: Number(name), parent: Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]), program }]
    } catch {
      return []
    }
  })
  const family = new Set([pid])
  for (let size = 0; size < family.size; ) {
    size = family.size
    for (const child of children) if (family.has(child.parent)) family.add(child.pid)
  }
  const chain = children.find((child) => child.program === 'anvil' && family.has(child.pid))
  if (chain === undefined) throw new Error('the sandbox has no anvil process')
  return chain.pid
}

/** Peak resident memory of a process, in MiB. */
function peakMiB(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function memory(process: string, value: number, max: number): Measurement {
  return {
    ...{
      bench: 'sandbox',
      measure: `peak memory of ${process} over a simulated day`,
      value,
      unit: 'MiB',
    },
    ...{ floor: null, ratio: null, goal: `<= ${max} MiB`, met: value <= max },
  }
}

function count(measure: string, value: number): Measurement {
  return {
    ...{ bench: 'sandbox', measure, value, unit: '' },
    ...{ floor: null, ratio: null, goal: 'none', met: value === 0 },
  }
}
