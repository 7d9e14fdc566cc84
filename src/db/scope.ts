import { AsyncLocalStorage } from 'node:async_hooks'

/** Signals that end the transactions begun below them. */
const ends = new AsyncLocalStorage<AbortSignal>()

/** Runs `work`; transactions that it begins lose their connection when the signal is aborted. */
export function boundTo<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return ends.run(signal, work)
}

/** The signal that ends a transaction begun here, if there is one. */
export function endSignal(): AbortSignal | undefined {
  return ends.getStore()
}
