import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { PROCESS_ENVIRONMENT } from './environment.ts'
import { roomyFolder } from './roomy-folder.ts'

/** The sandbox's program in a process of its own, with a folder for temporary files of its own. */
export interface SandboxProcess {
  /** Its folder for temporary files, for another one that finds what this one left. */
  readonly folder: string
  /** What it has printed so far, standard output and standard error. */
  output(): string
  /** Waits until it has printed that; fails with what it printed instead. */
  printed(text: string | RegExp): Promise<RegExpExecArray>
  signal(signal: NodeJS.Signals): void
  /** Ctrl-C at a terminal: SIGINT for it and for what it has started in the same session. */
  pressCtrlC(): void
  /** Reads no more of what it prints, as when a terminal is closed. */
  closeOutput(): void
  /** Waits for its end. */
  exit(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** Command lines of the processes that work for it now; itself does not count. */
  processes(): Promise<readonly string[]>
  /** Temporary files it has or has left. */
  files(): Promise<readonly string[]>
  /** Ends it, whatever it does, and deletes its folder. */
  discard(): Promise<void>
}

const MAIN = new URL('../../sandbox/main.ts', import.meta.url).pathname
const PATIENCE_MS = 45_000

/** Starts `sandbox/main.ts`. */
export async function startSandboxProcess(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<SandboxProcess> {
  const folder = await mkdtemp(join(await roomyFolder(), 'watchdog-test-'))
  // The database's own user has to come through.
  await chmod(folder, 0o755)
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...PROCESS_ENVIRONMENT, TMPDIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const exited = once(child, 'close').then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
  }))
  const output = collect(child)
  return {
    folder,
    output,
    printed: (text) => untilPrinted(output, new RegExp(text), exited),
    signal: (signal) => {
      child.kill(signal)
    },
    pressCtrlC: () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
    },
    closeOutput: () => {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    exit: () => exited,
    processes: () => processesOf(child.pid ?? 0, folder),
    files: () => readdir(folder),
    discard: async () => {
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return () => text
}

async function untilPrinted(
  output: () => string,
  wanted: RegExp,
  exited: Promise<unknown>,
): Promise<RegExpExecArray> {
  let hasEnded = false
  void exited.then(() => {
    hasEnded = true
  })
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 20) {
    const found = wanted.exec(output())
    if (found !== null) return found
    if (hasEnded) break
    await wait(20)
  }
  throw new Error(`${wanted} was not printed, but:\n${output()}`)
}

/** Its children and theirs, and whatever works in its folder though its parent is gone. */
async function processesOf(pid: number, folder: string): Promise<readonly string[]> {
  const all = await Promise.all((await readdir('/proc')).filter(isNumber).map(readProcess))
  const known = all.flatMap((one) => one ?? [])
  const family = new Set([pid])
  for (let size = 0; size < family.size; ) {
    size = family.size
    for (const one of known) if (family.has(one.parent)) family.add(one.pid)
  }
  return known
    .filter((one) => one.pid !== pid && (family.has(one.pid) || one.command.includes(folder)))
    .map(({ command }) => command)
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name)
}

async function readProcess(pid: string) {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // The name in brackets may hold anything; the parent is the second field behind it.
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    return { pid: Number(pid), parent: Number(parent), command: command.replaceAll('\0', ' ') }
  } catch {
    return undefined
  }
}
