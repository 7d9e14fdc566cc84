import { z } from 'zod'
import { DeliveryError } from './define.ts'

/** A failed e-mail as the SMTP client reports it; other properties of the error are ignored. */
const Failure = z.object({
  /** Code of the client: `ETIMEDOUT`, `EENVELOPE`, `EAUTH` … */
  code: z.string().catch(''),
  /** Status of the server, such as 550. */
  responseCode: z.number().optional().catch(undefined),
  /** Text of the server, such as `550 5.1.1 No such user`. */
  response: z.string().catch(''),
  /** Refused command: `RCPT TO`, `DATA` … */
  command: z.string().catch(''),
})
type Failure = z.output<typeof Failure>

/** Statuses for an unknown mailbox. */
const UNKNOWN_MAILBOX = [550, 551, 553]
/** Enhanced codes for an unknown mailbox: bad address, disabled mailbox, unknown to the domain. */
const UNKNOWN_ENHANCED = /^5\.(1\.\d{1,3}|2\.1|4\.1)$/

/**
 * Classifies a failed e-mail.
 *
 * Only an unknown mailbox is permanent. Other final refusals (full mailbox, policy, content, our log-in)
 * may be resolved without the reader, so they are retried up to the limit, and the destination stays on.
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

/**
 * Whether an error means an unknown mailbox. A server may refuse the recipient only after the text, and
 * then only an enhanced code is reliable.
 */
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
