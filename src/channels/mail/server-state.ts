/** What the mail server of this service answered lately, for the operator. */
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { judgeSmtp, refusalOf, wordsOf } from './smtp-errors.ts'

/** Time after a good answer in which no log-in is tried. */
const TRUSTED_MS = 15 * MINUTE_MS
/**
 * Number of mailboxes that are an outage when the server refuses them, with no accepted e-mail between. Mailboxes that
 * it calls unknown must have several owners: one owner may close all of theirs.
 */
const MANY = 3
const OWNERS = 2
/** Time in which these refusals must be, and after the last of them the time in which a log-in does not end the outage. */
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
  /** An e-mail to a mailbox, or a log-in, failed. */
  refused(error: unknown, mailbox?: RefusedMailbox): void
  /** Whether the server refused e-mails to several mailboxes and has accepted none since. */
  refusesMany(): boolean
  /** Whether a log-in should be tried: the last one failed, or the server has not been used for some time. */
  isCheckDue(): boolean
  /** Why no e-mails can be sent, with the server's words; undefined if they can, or if nothing was tried yet. */
  problem(): string | undefined
  /** Time since which no e-mails can be sent, in milliseconds; 0 if they can. */
  failingMs(): number
}

export interface RefusedMailbox {
  readonly address: string
  /** Its wallet; undefined if the mailbox has not agreed to e-mails, and may never have existed. */
  readonly owner: string | undefined
}

interface Refusal {
  readonly of: 'us' | 'mailbox'
  readonly owner: string | undefined
  readonly atMs: number
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
  const refusals = createRefusals(nowMs)
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

  return {
    accepted() {
      refusals.clear()
      work()
    },
    loggedIn() {
      if (refusals.areRecent()) trustedAtMs = nowMs()
      else work()
    },
    refused(error, mailbox) {
      const judged = judgeSmtp(error)
      const refusal = refusalOf(judged)
      const words = shown(wordsOf(error), password)
      if (refusal !== undefined && mailbox !== undefined) refusals.add(refusal, mailbox)
      if (refusals.areMany()) fail('mail_outage', words)
      else if (judged.isOurFault && refusal === undefined) fail(judged.reason, words)
      else work()
    },
    refusesMany: refusals.areMany,
    isCheckDue: () => trustedAtMs === undefined || nowMs() - trustedAtMs > TRUSTED_MS,
    problem: () =>
      failure &&
      `mail server ${server} ${PHRASES[failure.reason] ?? 'cannot be reached'}: ${failure.words}`,
    failingMs: () => (failure === undefined ? 0 : Math.max(0, nowMs() - failure.since.getTime())),
  }
}

/** Creates the refusals of single mailboxes since the last accepted e-mail. */
function createRefusals(nowMs: () => number) {
  const byMailbox = new Map<string, Refusal>()
  /** Time of the last refusal since there are many. */
  let manyAtMs: number | undefined
  const isRecent = (atMs: number) => nowMs() - atMs <= REFUSAL_MS
  return {
    add(of: Refusal['of'], { address, owner }: RefusedMailbox): void {
      // Anybody can ask for e-mails to a mailbox that never existed.
      if (of === 'mailbox' && owner === undefined) return
      byMailbox.set(address.toLowerCase(), { of, owner, atMs: nowMs() })
      for (const [mailbox, { atMs }] of byMailbox) if (!isRecent(atMs)) byMailbox.delete(mailbox)
      if (manyAtMs !== undefined || isOutage([...byMailbox.values()])) manyAtMs = nowMs()
    },
    clear(): void {
      byMailbox.clear()
      manyAtMs = undefined
    },
    /** Whether they are an outage. Only an accepted e-mail ends it, because a retry may come hours later. */
    areMany: () => manyAtMs !== undefined,
    areRecent: () => manyAtMs !== undefined && isRecent(manyAtMs),
  }
}

/** Whether refusals of different mailboxes are an outage. */
function isOutage(refusals: readonly Refusal[]): boolean {
  if (refusals.filter(({ of }) => of === 'us').length >= MANY) return true
  return refusals.length >= MANY && new Set(refusals.map(({ owner }) => owner)).size >= OWNERS
}

/**
 * Words of a server without secrets: a server may repeat what it was sent, such as a password, an encoded log-in or the
 * mailbox, of which the host remains.
 */
function shown(words: string, password: string): string {
  const secrets = [password, decoded(password)].filter((secret) => secret !== '')
  const kept = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words)
  const shownParts = kept
    .replace(/[^\s"(<[:,;]+(?=@)/g, '…')
    .replace(/[A-Za-z0-9+/]{16,}={0,2}/g, '…')
  return cleanOutsideText(shownParts, WORDS_MAX)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
