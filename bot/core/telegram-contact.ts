/**
 * The loops of the bot that must not end, and what Telegram answered them lately.
 *
 * No answer ends a loop: also a refused token may be an error of Telegram, which was seen to refuse a valid one for a
 * while.
 */
import { isConnectionFailure } from '#src/db/session.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { pause } from '#src/kernel/pause.ts'
import {
  describe,
  floodWaitMs,
  isConflict,
  isTokenRefused,
  isTransient,
  wordsOf,
} from '#src/telegram/errors.ts'

const BACKOFF_MS_MIN = 1000
const BACKOFF_MS_MAX = 30_000
/** Wait after a conflict with another program, perhaps the process that this one replaces. */
const CONFLICT_MS = 5000
/** Longest wait that Telegram may ask for. One answer must not silence the bot for hours. */
const FLOOD_MS_MAX = 600_000
/** Time without an accepted call that is a problem, longer than a request for updates takes at most. */
const SILENT_MS = 90_000
/** Time after a conflict for which it is reported: while two programs alternate, some calls of each are accepted. */
const CONFLICT_SHOWN_MS = 30_000
const WORDS_MAX = 200

/** Whether a failed call may work later, because Telegram or the database is unavailable. */
export function isTransientFailure(error: unknown): boolean {
  return isTransient(error) || isConnectionFailure(error)
}

type FailureKind = 'token' | 'conflict' | 'unavailable' | 'refused'

interface CallFailure {
  readonly kind: FailureKind
  readonly words: string
  /** By `performance.now`: a clock that jumps is no silence of Telegram. */
  readonly since: number
  readonly failures: number
}

/** The calls of the bot that are repeated until Telegram accepts them. */
export interface TelegramContact {
  /**
   * Repeats a call until Telegram accepts it, with growing pauses of at most half a minute.
   *
   * @param what a fixed phrase for log and health, such as `webhook could not be set`
   * @returns undefined only if the signal was aborted
   */
  untilAccepted<T>(what: string, signal: AbortSignal, run: () => Promise<T>): Promise<T | undefined>
  /** This process receives updates from now on, or no more. */
  setReceiving(isReceiving: boolean): void
  /** Telegram answered a request for updates, or whether it delivers them. */
  setAnswered(): void
  /** Another program takes the updates of this bot. */
  setConflict(): void
  /** Stores why Telegram cannot deliver updates to the webhook. */
  setUndelivered(words: string | undefined): void
  /** The problem of the bot in words, without secrets; undefined if there is none. */
  problem(): string | undefined
}

export interface ContactDeps {
  readonly log: Logger
  readonly meters: Pick<Meters, 'setTelegramAnswer' | 'telegramAnswerAgeMs'>
}

/** Creates a contact without calls. Long because the calls share their failures. */
export function createTelegramContact({ log, meters }: ContactDeps): TelegramContact {
  const calls = new Map<string, CallFailure>()
  let conflictAt: number | undefined
  let undelivered: string | undefined
  let receivingSince: number | undefined
  const msSince = (at: number) => performance.now() - at

  function fail(what: string, error: unknown): void {
    const kind = kindOf(error)
    const before = calls.get(what)
    const { since = performance.now(), failures = 0 } = before ?? {}
    calls.set(what, { kind, words: wordsOf(error), since, failures: failures + 1 })
    if (kind === 'conflict') conflictAt = performance.now()
    if (before?.kind === kind) return
    const isExpected = kind === 'unavailable' || kind === 'conflict'
    const phrase = kind === 'token' ? 'telegram refuses the bot token' : what
    log[isExpected ? 'warn' : 'error']({ error: describe(error) }, phrase)
  }

  function accept(what: string): void {
    const before = calls.get(what)
    if (before === undefined) return
    calls.delete(what)
    log.info({ call: what, failures: before.failures }, 'telegram accepts a call again')
  }

  function problem(): string | undefined {
    const failures = [...calls]
    const refused = failures.find(([, { kind }]) => kind === 'token')
    if (refused !== undefined) return `Telegram refuses the bot token: ${refused[1].words}`
    if (conflictAt !== undefined && msSince(conflictAt) < CONFLICT_SHOWN_MS)
      return 'another program receives updates with the same bot token'
    for (const [what, { kind, words, since }] of failures) {
      if (kind === 'refused') return `${what}: ${words}`
      if (msSince(since) > SILENT_MS) return `${what} for ${seconds(msSince(since))}: ${words}`
    }
    if (undelivered !== undefined)
      return `Telegram cannot deliver updates to the webhook: ${undelivered}`
    if (receivingSince === undefined) return undefined
    const silentMs = Math.min(meters.telegramAnswerAgeMs() ?? Infinity, msSince(receivingSince))
    return silentMs > SILENT_MS
      ? `no answer to a request for updates for ${seconds(silentMs)}`
      : undefined
  }

  return {
    async untilAccepted(what, signal, run) {
      for (let failures = 0; !signal.aborted; failures += 1) {
        try {
          const result = await run()
          accept(what)
          return result
        } catch (error) {
          if (signal.aborted) break
          fail(what, error)
          await pause(waitMs(error, failures), signal)
        }
      }
      calls.delete(what)
      return undefined
    },
    setReceiving(isReceiving) {
      receivingSince = isReceiving ? performance.now() : undefined
    },
    setAnswered: () => meters.setTelegramAnswer(),
    setConflict() {
      conflictAt = performance.now()
    },
    setUndelivered(words) {
      undelivered = words === undefined ? undefined : cleanOutsideText(words, WORDS_MAX)
    },
    problem,
  }
}

function kindOf(error: unknown): FailureKind {
  if (isTokenRefused(error)) return 'token'
  if (isConflict(error)) return 'conflict'
  return isTransientFailure(error) ? 'unavailable' : 'refused'
}

function waitMs(error: unknown, failures: number): number {
  if (isConflict(error)) return CONFLICT_MS
  const floodMs = Math.min(floodWaitMs(error) ?? 0, FLOOD_MS_MAX)
  return Math.max(floodMs, Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX))
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
