import { execFile } from 'node:child_process'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Folder of the client's sources. */
const SOURCES = join(import.meta.dirname, '../../clients/typescript/')

/**
 * Compiles and packs the client. The docs serve the file from `examples`, without a build step, so it is kept there as it was packed.
 *
 * @param folder for the package
 * @param sources folder of the client, such as that of another checkout
 * @returns the path of the package in the folder
 */
export async function packClient(folder: string, sources = SOURCES): Promise<string> {
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--json', '--pack-destination', folder],
    {
      cwd: sources,
    },
  )
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m)))
  const file = join(folder, 'flare-watchdog-client.tgz')
  await rename(join(folder, packed.filename), file)
  return file
}
