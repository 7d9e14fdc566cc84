import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port on loopback that nobody listens on: the wished one if it is free, else any. */
export async function findPort(wish = 0): Promise<number> {
  return (await tryPort(wish)) ?? (await tryPort(0)) ?? 0
}

async function tryPort(port: number): Promise<number | undefined> {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return undefined
  }
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return address === null || typeof address === 'string' ? undefined : address.port
}
