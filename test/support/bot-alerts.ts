import { recordAlerts } from '#src/alerts/service.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { findEventSource } from '#src/watches/events.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import type { BotWorld } from './bot.ts'
import { deliverAll } from './deliver-all.ts'

/** A firing or recovery, in the evaluator's form. */
export interface Noticed {
  readonly event: string
  readonly severity?: Severity
  readonly data?: JsonObject
}

/** Makes watches fire and recover in a world of the bot, and sends the messages. */
export function alertsIn(world: Pick<BotWorld, 'app' | 'service' | 'clock'>) {
  const { clock, service } = world
  const app = { ...service.app, botUsername: world.app.botUsername }
  let position = 0

  /** Signals of a watch fire or recover, all in one observation. */
  async function notice(watchId: number, ...all: readonly Noticed[]): Promise<void> {
    position += 1
    await app.db.transaction(async (tx) => {
      const watch = (await listForNotification(tx, [watchId])).get(watchId)
      if (watch === undefined) throw new Error('there is no such watch')
      const candidates = all.map((one): AlertCandidate => {
        const source = findEventSource(one.event)
        if (source === undefined) throw new Error(`no signal emits ${one.event}`)
        const { isRecovery, signal } = source
        return {
          watch,
          type: source.type ?? 'credits-balance',
          signal: signal.id,
          group: signal.group,
          event: one.event,
          severity: one.severity ?? (isRecovery ? 'info' : 'warning'),
          data: { ...signal.examples[one.event], ...one.data },
          isRecovery,
          isNotified: true,
          position,
          firedAt: clock.now(),
        }
      })
      await recordAlerts(app, tx, candidates)
    })
  }

  const deliver = () => deliverAll(app)
  return {
    notice,
    /** Sends due deliveries and edits outdated messages. */
    deliver,
    /** One observation in which these fire, with their messages. */
    fire: async (watchId: number, ...all: readonly Noticed[]): Promise<void> => {
      await notice(watchId, ...all)
      await deliver()
    },
  }
}
