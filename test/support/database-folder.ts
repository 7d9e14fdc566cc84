import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 2 ** 30

/** Uses memory if there is enough: every cloned database is some hundred files. */
export async function databaseFolder(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free < MEMORY_BYTES_MIN ? tmpdir() : MEMORY
}
