/** Fault instead of, or after, a call. */
export type Fault =
  /** Refused with this answer. */
  | {
      readonly error_code: number
      readonly description: string
      readonly parameters?: Readonly<Record<string, number>>
    }
  /** A proxy's 502 page instead of JSON. */
  | 'html'
  /** The connection breaks before the call is executed. */
  | 'reset'
  /** The call is executed, but the connection breaks before its answer. */
  | 'lost'
  /** No answer until `release()`; then the connection breaks. */
  | 'hang'

/** Calls to which a fault applies: the next calls of any method but `getUpdates`, or the calls of one method. */
export type FaultFilter =
  | number
  | string
  | { readonly method?: string; readonly times?: number; readonly chatId?: number }

/** Unused faults. */
export interface Faults {
  order(filter: FaultFilter, fault: Fault): void
  /** The fault for this call, consumed by the lookup. `method` in lower case. */
  take(method: string, chatId: string): Fault | undefined
  clear(): void
}

interface Ordered {
  readonly method: string | undefined
  readonly chatId: number | undefined
  readonly fault: Fault
  left: number
}

/** The answer to too many messages, with a waiting time. */
export function tooManyMessages(retryAfterSeconds: number): Fault {
  return {
    error_code: 429,
    description: `Too Many Requests: retry after ${retryAfterSeconds}`,
    parameters: { retry_after: retryAfterSeconds },
  }
}

/** Creates an empty list of faults. */
export function createFaults(): Faults {
  let ordered: Ordered[] = []
  return {
    order(filter, fault) {
      const wanted =
        typeof filter === 'number'
          ? { times: filter }
          : typeof filter === 'string'
            ? { method: filter }
            : filter
      ordered.push({
        method: wanted.method?.toLowerCase(),
        chatId: wanted.chatId,
        fault,
        left: wanted.times ?? 1,
      })
    },
    take(method, chatId) {
      const matching = ordered.find(
        (order) =>
          (order.method === undefined ? method !== 'getupdates' : order.method === method) &&
          (order.chatId === undefined || String(order.chatId) === chatId),
      )
      if (!matching) return undefined
      matching.left--
      ordered = ordered.filter((order) => order.left > 0)
      return matching.fault
    },
    clear() {
      ordered = []
    },
  }
}
