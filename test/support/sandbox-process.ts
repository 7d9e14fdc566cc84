import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { builtProgram } from './built-program.ts'
import { databaseFolder } from './database-folder.ts'

/** The sandbox's program in a separate process, with its own folder for temporary files. */
export interface SandboxProcess {
  /** Its folder for temporary files, for another process that finds its remains. */
  readonly folder: string
  /** Its output so far, standard output and standard error. */
  output(): string
  /** Waits for a text in its output; fails with the actual output. */
  printed(text: string | RegExp): Promise<RegExpExecArray>
  signal(signal: NodeJS.Signals): void
  /** Ctrl-C at a terminal: SIGINT for it and its children in the same session. */
  pressCtrlC(): void
  /** Stops reading its output, like a closed terminal. */
  closeOutput(): void
  /** Waits for its end. */
  exit(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** Command lines of its child processes. */
  processes(): Promise<readonly string[]>
  /** Its temporary files. */
  files(): Promise<readonly string[]>
  /** Kills it and deletes its folder. */
  discard(): Promise<void>
}

const PATIENCE_MS = 45_000

/** Starts the sandbox's program, as built for this run. */
export async function startSandboxProcess(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<SandboxProcess> {
  const folder = await mkdtemp(join(await databaseFolder(), 'watchdog-test-'))
  // The database's own user must be able to enter.
  await chmod(folder, 0o755)
  const { path, env } = builtProgram('sandbox')
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...env, TMPDIR: folder, ...environment },
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

/** Its descendants, and processes that work in its folder without a parent. */
async function processesOf(pid: number, folder: string): Promise<readonly string[]> {
  const all = await Promise.all((await readdir('/proc')).filter(isNumber).map(readProcess))
  const known = all.flatMap((child) => child ?? [])
  const family = new Set([pid])
  for (let size = 0; size < family.size; ) {
    size = family.size
    for (const child of known) if (family.has(child.parent)) family.add(child.pid)
  }
  return known
    .filter(
      (child) => child.pid !== pid && (family.has(child.pid) || child.command.includes(folder)),
    )
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
    // The name in brackets may contain anything; the parent is the second field after it.
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    return { pid: Number(pid), parent: Number(parent), command: command.replaceAll('\0', ' ') }
  } catch {
    return undefined
  }
}
