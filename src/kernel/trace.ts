/** The trace of a request (W3C Trace Context): its number is in every log line that the request causes. */
import { AsyncLocalStorage } from 'node:async_hooks'

const traces = new AsyncLocalStorage<string>()

/** version-traceid-parentid-flags; later versions may add parts. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const LENGTH_MAX = 256

/**
 * The number of the trace in a `traceparent` header; undefined for anything that is not valid.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function traceIdOf(header: unknown): string | undefined {
  if (typeof header !== 'string' || header.length > LENGTH_MAX) return undefined
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(header) ?? []
  const isEmpty = !/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(parentId)
  if (version === undefined || isEmpty) return undefined
  return version === '00' && more !== undefined ? undefined : traceId
}

/** Runs what belongs to a trace; without a trace it just runs. */
export function runInTrace(traceId: string | undefined, run: () => void): void {
  if (traceId === undefined) run()
  else traces.run(traceId, run)
}

/** The number of the trace that the present code belongs to. */
export function currentTraceId(): string | undefined {
  return traces.getStore()
}
