import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { EndpointName } from './endpoint-health.ts'

/**
 * Which chain an endpoint says that it serves. One answer proves nothing: an endpoint whose last answer was another
 * chain is not read, and three equal answers over half a minute put it away or back.
 */
export interface ChainIdCheck {
  /** Whether the endpoint may be read: its last answer was right, and it is not put away. */
  isRight(): boolean
  /** Whether the endpoint is put away: answers over some time said that it serves another chain. */
  isPutAway(): boolean
  /** Whether the endpoint must be asked before it is read. */
  isDue(): boolean
  /**
   * Asks the endpoint. Concurrent callers share one request.
   *
   * @param read asks for the chain id
   * @throws as `read`: no answer says nothing about the chain
   */
  ask(read: () => Promise<bigint>): Promise<void>
  /** Why the endpoint is not read, for the operator; undefined if it may be, or was never asked. */
  problem(): string | undefined
}

/** Number of equal answers in a row, and the time that they must span, that prove which chain it is. */
const PROVING_ANSWERS = 3
const PROVING_MS = 30_000
/** Limits of the time between two questions. Within them it is the time for which the answers have been equal. */
const PAUSE_MS = {
  right: { min: 10_000, max: HOUR_MS },
  wrong: { min: 1000, max: MINUTE_MS },
}

/** Equal answers in a row. */
interface Answers {
  readonly isRight: boolean
  readonly sinceMs: number
  readonly lastAtMs: number
  readonly count: number
}

/** Creates the check of an endpoint that was never asked. Long because its methods share the answers. */
export function createChainIdCheck(
  name: EndpointName,
  {
    chainId,
    clock,
    log,
  }: { readonly chainId: number; readonly clock: Clock; readonly log: Logger },
): ChainIdCheck {
  let answers: Answers | undefined
  let isPutAway = false
  /** The last answer that was another chain. */
  let otherChainId = ''
  let askedAtMs = 0
  let asking: Promise<void> | undefined
  /** Time of the last line about a doubt, and whether no line has ended it. */
  let doubt = { loggedAtMs: Number.NEGATIVE_INFINITY, isOpen: false }
  const now = () => clock.now().getTime()

  function record(answer: bigint): void {
    const nowMs = now()
    const isRight = answer === BigInt(chainId)
    if (!isRight) otherChainId = answer.toString()
    askedAtMs = nowMs
    answers =
      answers?.isRight === isRight
        ? { ...answers, lastAtMs: nowMs, count: answers.count + 1 }
        : { isRight, sinceMs: nowMs, lastAtMs: nowMs, count: 1 }
    const isProven = answers.count >= PROVING_ANSWERS && nowMs - answers.sinceMs >= PROVING_MS
    if (isRight) recordRight(isProven)
    else if (!isPutAway) recordWrong(isProven, nowMs)
  }

  function recordRight(isProven: boolean): void {
    if (isPutAway && !isProven) return
    if (isPutAway || doubt.isOpen) log.info(name, 'rpc endpoint serves the right chain')
    isPutAway = false
    doubt = { ...doubt, isOpen: false }
  }

  function recordWrong(isProven: boolean, nowMs: number): void {
    const fields = { ...name, chainId: otherChainId, expectedChainId: chainId }
    if (isProven) {
      isPutAway = true
      const askedAgainAfterSeconds = PAUSE_MS.wrong.max / 1000
      log.error({ ...fields, askedAgainAfterSeconds }, 'rpc endpoint serves another chain')
    } else if (nowMs - doubt.loggedAtMs >= MINUTE_MS) {
      log.warn(fields, 'rpc endpoint names another chain, and is not read while it does')
      doubt = { loggedAtMs: nowMs, isOpen: true }
    }
  }

  const isRight = () => answers?.isRight === true && !isPutAway
  return {
    isRight,
    isPutAway: () => isPutAway,
    isDue() {
      if (answers === undefined) return true
      const { min, max } = answers.isRight ? PAUSE_MS.right : PAUSE_MS.wrong
      const pauseMs = Math.min(Math.max(answers.lastAtMs - answers.sinceMs, min), max)
      const ageMs = now() - askedAtMs
      return ageMs < 0 || ageMs >= pauseMs
    },
    ask(read) {
      // An endpoint that is not read has time, also when it does not answer.
      if (answers !== undefined && !isRight()) askedAtMs = now()
      asking ??= read()
        .then(record)
        .finally(() => {
          asking = undefined
        })
      return asking
    },
    problem: () =>
      answers === undefined || isRight()
        ? undefined
        : `endpoint ${name.endpoint} answered chain ${otherChainId} instead of ${chainId}`,
  }
}
