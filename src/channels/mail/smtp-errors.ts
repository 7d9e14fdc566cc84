import { z } from 'zod'
import { DeliveryError } from '../define.ts'
import type { FailureReason } from '../failure-reasons.ts'

/** A failed e-mail as the SMTP client reports it; other properties of the error are ignored. */
const Failure = z.object({
  /** Code of the client: `ETIMEDOUT`, `EENVELOPE`, `EAUTH` … */
  code: z.string().catch(''),
  /** Status of the server, such as 550. */
  responseCode: z.number().optional().catch(undefined),
  /** Text of the server with all its lines, such as `550 5.1.1 No such user`. */
  response: z.string().catch(''),
  /** Refused command: `RCPT TO`, `DATA` …; `API` if the client did not accept the e-mail. */
  command: z.string().catch(''),
  /** Text of the client. */
  message: z.string().catch(''),
})

/** What the server refused: this service, the mailbox as one that does not exist or is off, or it is unclear. */
type Refused = 'us' | 'mailbox' | 'unclear'

/** Commands that concern one mailbox. What is refused before them is refused for every mailbox. */
const ABOUT_ONE_MAILBOX = ['RCPT TO', 'DATA']

/**
 * Classifies a failed e-mail.
 *
 * Only an answer that names the mailbox as unknown or disabled is permanent, and only if it is repeated. A refusal of
 * this service (sender, relay, address, reputation, policy, content) is never the mailbox's fault. What is unclear or
 * concerns the mailbox for now, such as a full one, counts as a failure of the mailbox.
 *
 * @see RFC 5321, section 4.2; RFC 3463
 */
export function judgeSmtp(error: unknown): DeliveryError {
  const { code, responseCode: statusCode, response, command, message } = Failure.parse(error)
  const ours = { isOurFault: true, ...(statusCode !== undefined && { statusCode }) }
  if (code === 'EAUTH') return new DeliveryError('mail_login', ours)
  if (command === 'API' && code === 'EENVELOPE') {
    // The client refuses an address: the reader's, or the sender in the configuration.
    return message.startsWith('Invalid recipient')
      ? new DeliveryError('mail_refused')
      : new DeliveryError('mail_outage', ours)
  }
  if (statusCode === undefined) return new DeliveryError(networkReason(code), ours)
  if (!ABOUT_ONE_MAILBOX.includes(command)) return new DeliveryError('mail_outage', ours)
  const refused = refusedBy(response)
  const isFinal = statusCode >= 500
  if (refused === 'mailbox' && isFinal) {
    const certain = { permanent: true, needsRepetition: true }
    return new DeliveryError('mailbox_unknown', { statusCode, ...certain })
  }
  const reason = isFinal ? 'mail_refused' : 'mail_postponed'
  return new DeliveryError(reason, refused === 'us' ? ours : { statusCode })
}

/**
 * What a mail server refused for one mailbox, while it may accept e-mails to others: this service, or the mailbox as
 * unknown. Refused for many mailboxes, both are an outage. undefined for other failures.
 */
export function refusalOf({ isOurFault, reason }: DeliveryError): 'us' | 'mailbox' | undefined {
  if (reason === 'mailbox_unknown') return 'mailbox'
  return isOurFault && (reason === 'mail_refused' || reason === 'mail_postponed') ? 'us' : undefined
}

/** The words of the server, or those of the client if the server did not answer. */
export function wordsOf(error: unknown): string {
  const { response, message } = Failure.parse(error)
  return response === '' ? message : response
}

/**
 * Details of enhanced codes (`X.1.n`, `X.2.n`) that name the mailbox as one that does not exist or takes no mail:
 * unknown mailbox, unknown host, invalid address, moved without a new address, host without mail; disabled.
 */
const MAILBOX_CODES = ['1.1', '1.2', '1.3', '1.6', '1.10', '2.1']
/**
 * Codes in the same groups that concern this service: syntax and host of the sender (1.7, 1.8), a relay (1.9), too long
 * a message (2.3); of Exchange Online several senders (1.20) and the sender's daily limit (1.90).
 */
const OUR_CODES = ['1.7', '1.8', '1.9', '1.20', '1.90', '2.3']
/** Groups of codes that do not concern the mailbox: mail system, network, protocol, content, policy. */
const OUR_GROUPS = /^[3-7]\./

/**
 * Texts about this service. They outweigh every code, because a server that refuses a sender or an address may answer
 * as if the mailbox did not exist.
 */
const ABOUT_US = new RegExp(
  [
    // Relaying. Postfix calls the list of its users a "relay recipient table".
    /\brelay(?!.?recipient)|rcpthosts|not (a )?local domain/,
    // Sender and addresses of the e-mail.
    /\bsender|\benvelope.?from|\bmail ?from\b|\bfrom.?(address|header)|return.?path|badmailfrom|\bidentit/,
    /\bsending\b|\bsend (mail|e-?mail|to)\b|verification failed|call(back|out)|not verified/,
    // This host, its name and its address.
    /\byour (account|ip|host|server|mail ?server|address|domain|network|isp|provider|system|access|reputation)/,
    /\bip\b|\bclient host|\bhelo\b|\behlo\b|reverse.?(dns|lookup)|\bptr\b|\brdns\b|\bfqdn\b/,
    // Lists and reputation.
    /block|black.?list|deny.?list|dnsbl|\brbl\b|listed\b/,
    /reputation|\bban(ned)?\b|complain|abus(e|ive)/,
    // Content.
    /\bspam|\bjunk|\bbulk\b|unsolicited|virus|malware|phish|content|suspicious|malicious|attachment/,
    // Policy, authentication and encryption.
    /polic(y|ies)|prohibit|forbidden|permi(t|ssion)|not allowed|security|administrativ/,
    /auth(enti|ori)|\bspf\b|\bdkim\b|\bdmarc\b|\barc\b|\btls\b|starttls|encrypt|certificate|log.?in\b/,
    // Limits.
    /gr[ea]y.?list|throttl|\brate\b|too (many|much|fast|quickly|often)|frequen|limit|volume|receiving mail/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

const NAMES = 'user|mailbox|mail ?box|recipient|account|address|addressee|alias|person|customer'
const UNKNOWN = 'unknown|invalid|illegal|non.?existent|unrout(e)?able'
const OFF = 'disabled|inactive|deactivated|suspended|closed|terminated|deleted|expired|discontinued'

/** Texts that name the mailbox as unknown or disabled. */
const MAILBOX_TEXT = new RegExp(
  [
    `\\b(${UNKNOWN}) (local |e-?mail )?(or illegal )?(${NAMES})\\b`,
    `\\b(${NAMES})\\b[^.;]{0,40}\\b(unknown|not found|not exist|(isn|wasn).?t found|not known)\\b`,
    `\\b(${NAMES})\\b[^.;]{0,60}\\b(does ?n.?t|did ?n.?t|do ?n.?t) (exist|have)\\b`,
    `\\bno (such|valid) (local )?(e-?mail )?(${NAMES})\\b`,
    `\\b(no mailbox here|no (mailbox|account|user) (by|with) th(at|is) name)\\b`,
    `\\b(mailbox|user|recipient)('s)?( account)?( is| was| has been)?( currently)? (${OFF})\\b`,
    `\\b(mailbox|user|recipient|address)( is)? no longer\\b`,
    `\\b(recipient )?address rejected: (undeliverable address|domain not found)\\b`,
  ].join('|'),
  'i',
)

/** Exchange Online refuses unknown mailboxes with the code of an unreachable host (5.4.1). */
const EDGE_REFUSAL = /recipient address(es)? rejected/i

/** Links and hosts of lists of senders; an answer may consist of such a link. */
const SENDER_LISTS = /spamhaus|spamcop|sorbs|barracudacentral|dnsbl|rbl\./i
const FOR_NOW = /temporar|try again|\blater\b|\bbusy\b|timed? ?out|refused to talk/i
/** Words about a system or a judgement. With them the codes 1.1 and 2.1 alone do not say that the mailbox is unknown. */
const ABOUT_A_SYSTEM =
  /denied|rejected|refused|failed|failure|\berror\b|score|\bdns\b|\bhost\b|originator|support|connection|unavailable|backend|database|look.?up|this account/i

function refusedBy(response: string): Refused {
  const text = plain(response)
  if (ABOUT_US.test(text) || SENDER_LISTS.test(withoutAddresses(response))) return 'us'
  const codes = enhancedCodes(response)
  const namesMailbox = MAILBOX_TEXT.test(text)
  const isForNow = FOR_NOW.test(text)
  if (codes.includes('4.1') && EDGE_REFUSAL.test(text) && !isForNow) return 'mailbox'
  if (codes.some((code) => OUR_GROUPS.test(code) || OUR_CODES.includes(code)))
    return namesMailbox ? 'unclear' : 'us'
  const isAboutSystem = ABOUT_A_SYSTEM.test(text)
  const isMailbox =
    namesMailbox ||
    codes.some(
      (code) =>
        MAILBOX_CODES.includes(code) && !(isAboutSystem && (code === '1.1' || code === '2.1')),
    )
  return isMailbox && !isForNow ? 'mailbox' : 'unclear'
}

/**
 * Enhanced codes of an answer without their class, such as `1.1`, wherever they stand: after the status, in
 * parentheses, behind `#`, in any line. Those that say nothing (X.0.0, X.1.0, X.2.0, X.5.0) are left out.
 */
function enhancedCodes(response: string): readonly string[] {
  return [...response.matchAll(/(?<![\d.])[45]\.([0-7]\.\d{1,3})(?![\d.]*\d)/g)].flatMap(
    ([, code = '']) => (/^[0125]\.0$/.test(code) ? [] : [code]),
  )
}

/**
 * The words of an answer in one line, without addresses, links and host names, which may contain any word.
 */
function plain(response: string): string {
  return withoutAddresses(response)
    .replace(/^\d{3}[ -]?/gm, '')
    .replace(/https?:\/\/\S+/gi, ' ')
    .replace(/\b(?:[\w-]+\.)+[a-z][\w-]*\b/gi, ' ')
    .replace(/\s+/g, ' ')
}

function withoutAddresses(response: string): string {
  return response.replace(/<[^>\s]*@[^>\s]*>/g, ' ').replace(/[^\s"'(<[]+@[^\s"')>\]]+/g, ' ')
}

function networkReason(code: string): FailureReason {
  if (/TIMEOUT|ETIMEDOUT|EABORT/.test(code)) return 'timeout'
  if (code === 'EDNS' || code === 'ENOTFOUND') return 'unknown_host'
  return /ETLS|CERT/.test(code) ? 'certificate' : 'unreachable'
}
