import type { WorkLimiter } from '#src/kernel/work-limiter.ts'
import type { Endpoints } from './endpoints.ts'

/** Limits the reads that anybody can cause: a few run at a time, the others wait or are refused. */
export function limitReads(endpoints: Endpoints, turns: WorkLimiter): Endpoints {
  return {
    count: endpoints.count,
    failures: endpoints.failures,
    recordNewest: endpoints.recordNewest,
    ask: (read, signal, limitMs) => turns.take(() => endpoints.ask(read, signal, limitMs), signal),
    askUntil: (read, isEnough, signal) =>
      turns.take(() => endpoints.askUntil(read, isEnough, signal), signal),
    askForMost: (read, isEnough, signal) =>
      turns.take(() => endpoints.askForMost(read, isEnough, signal), signal),
    askEach: (read, signal) => turns.take(() => endpoints.askEach(read, signal), signal),
  }
}
