import type { MessageState } from '#src/channels/envelope.ts'
import { isSharedFailure } from '#src/db/isolate.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { StateReader } from './chat-situation.ts'

/**
 * Wraps a reader of states: if reading all at once fails, it reads them one by one and puts unreadable ones into
 * quarantine. A failure that affects all, such as a lost connection, is thrown.
 */
export function isolatingStateReader(stateOf: StateReader, quarantine: Quarantine): StateReader {
  return async (db, alertIds) => {
    try {
      return await stateOf(db, alertIds)
    } catch (error) {
      if (isSharedFailure(error)) throw error
      const states = new Map<number, MessageState>()
      for (const id of new Set(alertIds)) {
        try {
          for (const [key, state] of await stateOf(db, [id])) states.set(key, state)
        } catch (problem) {
          if (isSharedFailure(problem)) throw problem
          quarantine.add('alert', id, problem, { alertId: id })
        }
      }
      return states
    }
  }
}
