import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Programs that build images from a Dockerfile, in the order in which they are tried. */
const ENGINES = ['docker', 'podman'] as const
export type Engine = (typeof ENGINES)[number]

/** An engine that answers, or why none does. */
export interface FoundEngine {
  readonly engine: Engine | undefined
  readonly reasons: readonly string[]
}

/** Finds a container engine that can build: docker without its daemon, for example, cannot. */
export async function findEngine(): Promise<FoundEngine> {
  const reasons: string[] = []
  for (const engine of ENGINES) {
    try {
      await run(engine, ['info'])
      return { engine, reasons }
    } catch (error) {
      reasons.push(`${engine}: ${reasonOf(error)}`)
    }
  }
  return { engine: undefined, reasons }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'ENOENT') return 'not installed'
  const said = 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : ''
  return said || error.message
}

/**
 * Builds the image of a release.
 *
 * @param folder the release's files
 * @returns the image's name and its id
 * @throws Error with what the engine says
 */
export async function buildImage(
  engine: Engine,
  folder: string,
  { version, commit }: { readonly version: string; readonly commit: string },
): Promise<{ readonly name: string; readonly id: string }> {
  const name = `flare-watchdog:${version}`
  const args = ['build', '--build-arg', `COMMIT=${commit}`, '--tag', name, folder]
  await run(engine, args, { maxBuffer: 1 << 28 })
  const { stdout } = await run(engine, ['image', 'inspect', '--format', '{{.Id}}', name])
  return { name, id: stdout.trim() }
}
