import { request } from 'undici'

/** Time limit of one call. */
const CALL_MS = 10_000

/** A monitor that expects regular calls, such as healthchecks.io. */
export interface HeartbeatMonitor {
  /** Reports that the checks begin. @throws Error as `succeed` */
  start(signal: AbortSignal): Promise<void>
  /** Reports that everything works. @throws Error when the monitor cannot be reached or refuses */
  succeed(signal: AbortSignal): Promise<void>
  /** Reports problems, one a line. @throws Error as `succeed` */
  fail(problems: readonly string[], signal: AbortSignal): Promise<void>
}

/** @param url URL that the operator set, so it may be a private address */
export function createHeartbeatMonitor(url: string): HeartbeatMonitor {
  const call = async (path: string, body: string, signal: AbortSignal) => {
    const answer = await request(`${url}${path}`, {
      method: 'POST',
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
    })
    await answer.body.dump()
    if (answer.statusCode >= 400) throw new Error(`the monitor answered ${answer.statusCode}`)
  }
  return {
    start: (signal) => call('/start', '', signal),
    succeed: (signal) => call('', '', signal),
    fail: (problems, signal) => call('/fail', problems.join('\n'), signal),
  }
}
