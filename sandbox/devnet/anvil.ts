import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A running anvil with its guarding shell. */
export interface AnvilProcess {
  /** JSON-RPC URL of anvil. */
  readonly url: string
  /** Stops it and waits until it and its files are gone. Idempotent. */
  close(): Promise<void>
}

const START_TIMEOUT_MS = 30_000

/**
 * Runs anvil and stops it as soon as the other end of its standard input closes, which the system does even
 * when this process is killed. The shell writes nothing, because its output may be closed then.
 */
const GUARD = `
files=$1
shift
exec 3<&0
"$@" </dev/null 3<&- &
anvil=$!
exec 2>/dev/null
(read -r _ <&3; kill -9 "$anvil") &
watcher=$!
wait "$anvil"
status=$?
kill "$watcher"
rm -rf "$files"
exit "$status"
`

/**
 * Starts anvil and waits until it listens.
 *
 * @param path the program; by default the one from npm, or else `anvil` on the PATH
 * @param options command line options in addition to those for its files
 * @throws Error with anvil's output when it does not listen within 30 s
 */
export async function startAnvil(
  path: string | undefined,
  options: readonly string[],
): Promise<AnvilProcess> {
  const files = await mkdtemp(join(tmpdir(), 'watchdog-anvil-'))
  const anvil = [path ?? packagedAnvil() ?? 'anvil', '--cache-path', files, ...options]
  // In a session of its own, so that Ctrl-C reaches only this process and the chain outlives its users.
  const guard = spawn('sh', ['-c', GUARD, 'anvil-guard', files, ...anvil], { detached: true })
  const exited = once(guard, 'close')
  const close = async () => {
    guard.stdin.destroy()
    await exited
  }
  try {
    return { url: `http://${await listeningAddress(guard)}`, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function listeningAddress(guard: ChildProcessWithoutNullStreams): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const errors: string[] = []
  const fail = (what: string) => reject(new Error(`anvil ${what}. ${errors.join('\n')}`.trim()))
  guard.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  guard.once('close', (code) => fail(`ended with code ${code} before it listened`))
  const timer = setTimeout(() => fail('did not listen in time'), START_TIMEOUT_MS)
  const lines = createInterface(guard.stdout).on('line', (line) => {
    const address = /^Listening on (\S+)$/.exec(line)?.[1]
    if (address !== undefined) resolve(address)
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    lines.close()
    errors.length = 0
    guard.stderr.removeAllListeners('data').resume()
    guard.stdout.resume()
  }
}

/** The binary of the optional npm package, if there is one for this machine. */
function packagedAnvil(): string | undefined {
  const processor = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${processor}/bin/anvil`
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined
  }
}
