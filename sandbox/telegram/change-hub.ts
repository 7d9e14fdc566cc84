import type { ChatChange } from './model.ts'

/** Notifies listeners of changes. */
export interface ChangeHub {
  emit(change: ChatChange): void
  /** Returns a function that stops listening. */
  on(listener: (change: ChatChange) => void): () => void
  /** Resolves with the first truthy value of `look`, evaluated now and after every change. */
  until<T>(look: () => T | undefined | null | false, timeoutMs: number, what?: string): Promise<T>
}

/** Creates a hub without listeners. */
export function createChangeHub(): ChangeHub {
  const listeners = new Set<(change: ChatChange) => void>()
  const on = (listener: (change: ChatChange) => void) => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }
  return {
    on,
    emit(change) {
      for (const listener of [...listeners]) listener(change)
    },
    until(look, timeoutMs, what = 'what was waited for') {
      return new Promise((resolve, reject) => {
        let stop = () => {}
        const finish = (settle: () => void) => {
          stop()
          clearTimeout(timer)
          settle()
        }
        const timer = setTimeout(() => {
          finish(() => reject(new Error(`Telegram: ${what} did not happen in ${timeoutMs} ms`)))
        }, timeoutMs)
        const ask = () => {
          try {
            const found = look()
            if (found) finish(() => resolve(found))
          } catch (error) {
            finish(() => reject(error))
          }
        }
        stop = on(ask)
        ask()
      })
    },
  }
}
