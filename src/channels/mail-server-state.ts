/** What the mail server of this service answered lately, for the operator. */
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { isRefusalOfUs, judgeSmtp, wordsOf } from './smtp-errors.ts'

/** Time after a good answer in which no log-in is tried. */
const TRUSTED_MS = 15 * MINUTE_MS
/** Number of mailboxes for which the server refuses this service, with no accepted e-mail between, that are an outage. */
const MANY = 3
/** Time for which a refusal counts. */
const REFUSAL_MS = HOUR_MS
/** Length of the server's words that are shown. */
const WORDS_MAX = 200

const PHRASES: Readonly<Record<string, string>> = {
  mail_login: 'refuses the log-in',
  mail_outage: 'refuses the e-mails of this service',
}

export interface StateDeps {
  readonly clock: Clock
  readonly log: Logger
}

/** Methods are called with every answer of the server. */
export interface MailServerState {
  /** An e-mail was accepted. */
  accepted(): void
  /** A log-in succeeded. */
  loggedIn(): void
  /**
   * An e-mail or log-in failed.
   * @param mailbox address of the e-mail
   */
  refused(error: unknown, mailbox?: string): void
  /** Whether the server refused this service for several mailboxes and has accepted no e-mail since. */
  refusesMany(): boolean
  /** Whether a log-in should be tried: the last one failed, or the server has not been used for some time. */
  isCheckDue(): boolean
  /** Why no e-mails can be sent, with the server's words; undefined if they can, or if nothing was tried yet. */
  problem(): string | undefined
  /** Time since which no e-mails can be sent, in milliseconds; 0 if they can. */
  failingMs(): number
}

interface MailFailure {
  readonly since: Date
  readonly reason: string
  readonly words: string
}

/**
 * Creates a state without answers. It logs the first failure, each with another reason, and the end.
 *
 * @param url of the mail server; its password is not shown
 */
export function createMailServerState(url: string, { clock, log }: StateDeps): MailServerState {
  const { host: server, password } = new URL(url)
  const nowMs = () => clock.now().getTime()
  let failure: MailFailure | undefined
  /** Refusals of this service: time by mailbox. */
  const refusals = new Map<string, number>()
  let trustedAtMs: number | undefined

  function fail(reason: string, words: string): void {
    trustedAtMs = undefined
    if (failure?.reason !== reason)
      log.error({ server, reason, answer: words }, 'mail server takes no e-mails')
    failure = { since: failure?.since ?? clock.now(), reason, words }
  }

  function work(): void {
    trustedAtMs = nowMs()
    if (failure !== undefined) log.info({ server }, 'mail server takes e-mails again')
    failure = undefined
  }

  function refusesMany(): boolean {
    for (const [mailbox, atMs] of refusals)
      if (nowMs() - atMs > REFUSAL_MS) refusals.delete(mailbox)
    return refusals.size >= MANY
  }

  return {
    accepted() {
      refusals.clear()
      work()
    },
    loggedIn() {
      if (refusesMany()) trustedAtMs = nowMs()
      else work()
    },
    refused(error, mailbox = '') {
      const judged = judgeSmtp(error)
      const words = shown(wordsOf(error), password)
      if (isRefusalOfUs(judged)) refusals.set(mailbox, nowMs())
      if (refusesMany()) fail('mail_outage', words)
      else if (judged.isOurFault && !isRefusalOfUs(judged)) fail(judged.reason, words)
      else work()
    },
    refusesMany,
    isCheckDue: () => trustedAtMs === undefined || nowMs() - trustedAtMs > TRUSTED_MS,
    problem: () =>
      failure &&
      `mail server ${server} ${PHRASES[failure.reason] ?? 'cannot be reached'}: ${failure.words}`,
    failingMs: () => (failure === undefined ? 0 : Math.max(0, nowMs() - failure.since.getTime())),
  }
}

/**
 * Words of a server without secrets: a server may repeat what it was sent, such as a password or an encoded log-in.
 */
function shown(words: string, password: string): string {
  const secrets = [password, decoded(password)].filter((secret) => secret !== '')
  const kept = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words)
  return cleanOutsideText(kept.replace(/[A-Za-z0-9+/]{16,}={0,2}/g, '…'), WORDS_MAX)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
