import { setTimeout as wait } from 'node:timers/promises'
import { startWorld, type World } from '#sandbox/world.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { freshDatabase } from './database.ts'

/** Starts a world of the sandbox on free ports, in a clone of the test database instead of a PostgreSQL of its own. */
export async function startSandboxWorld(log: Logger): Promise<World> {
  const database = await freshDatabase()
  try {
    const world = await startWorld({ log, port: 0, databaseUrl: database.nearUrl })
    return {
      ...world,
      close: async () => {
        await world.close()
        await database.drop()
      },
    }
  } catch (error) {
    await database.drop()
    throw error
  }
}

/**
 * Waits for what needs further blocks, and creates one each second: those of the sandbox come every three seconds. Not
 * while a simulation runs, which creates all blocks itself.
 */
export async function withBlocks<T>({ devnet }: World, awaited: Promise<T>): Promise<T> {
  let isOver = false
  const ended = awaited.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([ended, wait(1000)])
    if (!isOver) await devnet.mine()
  }
  return ended
}
