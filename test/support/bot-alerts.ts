import { recordAlerts } from '#src/alerts/service.ts'
import { candidatesOf, type RecordedEvent } from './alert-candidates.ts'
import type { BotWorld } from './bot.ts'
import { deliverAll } from './deliver-all.ts'

/** Creates functions that let watches of a bot world fire and recover, and that send the messages. */
export function alertsIn(world: Pick<BotWorld, 'app' | 'service' | 'clock'>) {
  const { clock, service } = world
  const app = { ...service.app, botUsername: world.app.botUsername }
  let position = 0

  /** Signals of a watch fire or recover, all in one observation. */
  async function notice(watchId: number, ...all: readonly RecordedEvent[]): Promise<void> {
    position += 1
    await app.db.transaction(async (tx) => {
      const candidates = await candidatesOf(tx, watchId, all, { position, firedAt: clock.now() })
      await recordAlerts(app, tx, candidates)
    })
  }

  const deliver = () => deliverAll(app)
  return {
    notice,
    /** Sends due deliveries and edits outdated messages. */
    deliver,
    /** One observation in which these fire, with their messages. */
    fire: async (watchId: number, ...all: readonly RecordedEvent[]): Promise<void> => {
      await notice(watchId, ...all)
      await deliver()
    },
  }
}
