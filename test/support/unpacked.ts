import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CACHE } from './cache.ts'

/**
 * Unpacks what npm brought packed, once until the next `npm ci`. Several processes may do so at once; the first that has
 * finished counts.
 *
 * @param name of the folder
 * @param unpack fills a folder
 * @returns the folder
 */
export async function unpacked(
  name: string,
  unpack: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(CACHE, name)
  if (existsSync(folder)) return folder
  await mkdir(CACHE, { recursive: true })
  const draft = await mkdtemp(join(CACHE, DRAFT))
  try {
    await unpack(draft)
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
    return folder
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** How the names of folders begin that a killed run leaves unfinished. */
export const DRAFT = 'draft-'
