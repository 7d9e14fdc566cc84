import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 2 ** 30

/** Memory where there is enough: every database that is cloned is some hundred files. */
export async function roomyFolder(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free < MEMORY_BYTES_MIN ? tmpdir() : MEMORY
}
