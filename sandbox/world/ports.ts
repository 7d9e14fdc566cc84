import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports below the ephemeral ports of common systems, which a system may give to another program meanwhile. */
const FIRST = 20_000
const AFTER_LAST = 32_768
const TRIES_MAX = 100

/** Finds a free port on loopback: the wished one if possible, else any. */
export async function findPort(wish?: number): Promise<number> {
  if (wish !== undefined && (await isFree(wish))) return wish
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(FIRST, AFTER_LAST)
    if (await isFree(port)) return port
  }
  throw new Error('there is no free port')
}

/**
 * Checks that a port on loopback is free.
 * @throws Error otherwise
 */
export async function requireFreePort(port: number): Promise<void> {
  const probe = createServer().listen(port, '127.0.0.1')
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

async function isFree(port: number): Promise<boolean> {
  try {
    await requireFreePort(port)
    return true
  } catch {
    return false
  }
}
