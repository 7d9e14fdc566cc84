import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** Linux's file system in memory. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 2 ** 30

/**
 * Folder for the files of the test databases: in memory if at least 4 GiB are free, because a cloned database has
 * hundreds of files; otherwise the temporary folder.
 */
export async function databaseFolder(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free < MEMORY_BYTES_MIN ? tmpdir() : MEMORY
}
