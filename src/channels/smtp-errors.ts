import { z } from 'zod'
import { DeliveryError } from './define.ts'

/** A failed mail as the SMTP client tells it; what else there is in the error does not matter. */
const Failure = z.object({
  /** The client's word: `ETIMEDOUT`, `EENVELOPE`, `EAUTH` … */
  code: z.string().catch(''),
  /** The server's status, such as 550. */
  responseCode: z.number().optional().catch(undefined),
  /** The server's words, such as `550 5.1.1 No such user`. */
  response: z.string().catch(''),
  /** What the server refused: `RCPT TO`, `DATA` … */
  command: z.string().catch(''),
})
type Failure = z.output<typeof Failure>

/** Replies to a recipient that say: there is no such mailbox. */
const UNKNOWN_MAILBOX = [550, 551, 553]
/** Enhanced codes that say the same: bad address, mailbox disabled, unknown to the domain's front. */
const UNKNOWN_ENHANCED = /^5\.(1\.\d{1,3}|2\.1|4\.1)$/

/**
 * Judges a mail that was not taken.
 *
 * Only an unknown mailbox is permanent. Other final refusals (a full mailbox, a policy, content, our own
 * log-in) may be repaired without the reader's doing, so they are tried again and then given up, and
 * the destination stays on.
 *
 * @see RFC 5321, section 4.2; RFC 3463
 */
export function judgeSmtp(error: unknown): DeliveryError {
  const failure = Failure.parse(error)
  const { responseCode: statusCode, code } = failure
  if (statusCode === undefined) return new DeliveryError(networkReason(code), { isOurFault: true })
  if (statusCode < 500) return new DeliveryError('mail_postponed', { statusCode })
  if (code === 'EAUTH') return new DeliveryError('mail_login', { statusCode, isOurFault: true })
  if (isUnknownMailbox(failure, statusCode)) {
    return new DeliveryError('mailbox_unknown', { statusCode, permanent: true })
  }
  return new DeliveryError('mail_refused', { statusCode })
}

/** A server may answer for the recipient as late as after the text, then only with an enhanced code. */
function isUnknownMailbox({ command, response }: Failure, statusCode: number): boolean {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1]
  if (enhanced !== undefined) return UNKNOWN_ENHANCED.test(enhanced)
  return command === 'RCPT TO' && UNKNOWN_MAILBOX.includes(statusCode)
}

function networkReason(code: string): string {
  if (/TIMEOUT|ETIMEDOUT|EABORT/.test(code)) return 'timeout'
  if (code === 'EDNS' || code === 'ENOTFOUND') return 'unknown_host'
  return /ETLS|CERT/.test(code) ? 'certificate' : 'unreachable'
}
