import { simpleParser } from 'mailparser'

/** One header of a mail, unfolded and otherwise unchanged. */
export interface MailHeader {
  readonly name: string
  readonly value: string
}

/** A received mail. */
export interface Mail {
  /** Counts from 1 in the order of arrival. */
  readonly id: number
  readonly receivedAt: Date
  /** Sender and recipients of the SMTP envelope; the headers may differ. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] }
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly messageId: string | undefined
  readonly inReplyTo: string | undefined
  readonly headers: readonly MailHeader[]
  /** The HTML part, decoded; undefined if empty. */
  readonly html: string | undefined
  /** The text part, decoded; never derived from the HTML part. */
  readonly text: string | undefined
  /** The raw message. */
  readonly raw: Buffer
}

const ONE_CLICK = 'List-Unsubscribe=One-Click'

/** Parses a mail. Malformed input gives a mail with few parts. */
export async function readMail(
  raw: Buffer,
  arrival: Pick<Mail, 'id' | 'receivedAt' | 'envelope'>,
): Promise<Mail> {
  const parsed = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true })
  const to = [parsed.to ?? []].flat()
  return {
    ...arrival,
    from: parsed.from?.text ?? '',
    to: to.map(({ text }) => text).join(', '),
    subject: parsed.subject ?? '',
    messageId: parsed.messageId,
    inReplyTo: parsed.inReplyTo,
    headers: parsed.headerLines.map(({ line }) => readHeader(line)),
    html: parsed.html || undefined,
    text: parsed.text || undefined,
    raw,
  }
}

/** The value of a header, in any case of its name; the first of several. */
export function headerOf(mail: Mail, name: string): string | undefined {
  const wanted = name.toLowerCase()
  return mail.headers.find((header) => header.name.toLowerCase() === wanted)?.value
}

/** The link of a mail that asks for consent; undefined in others. */
export function confirmLinkOf(mail: Mail): string | undefined {
  const links = (mail.text ?? '').match(/https?:\/\/[^\s<>"]+/g) ?? []
  return links.find((link) => URL.canParse(link) && new URL(link).pathname.startsWith('/confirm/'))
}

/**
 * URL for one-click unsubscription by mail programs, if the mail has one.
 *
 * Plain http counts too, because the sandbox has no encryption.
 *
 * @see RFC 8058, section 3.1
 */
export function oneClickUrlOf(mail: Mail): string | undefined {
  if (headerOf(mail, 'List-Unsubscribe-Post')?.trim() !== ONE_CLICK) return undefined
  const links = headerOf(mail, 'List-Unsubscribe')?.matchAll(/<([^<>]+)>/g) ?? []
  return [...links].flatMap(([, link = '']) => (/^https?:/i.test(link) ? [link] : []))[0]
}

/**
 * Unsubscribes like a mail program, without cookies and without following redirects.
 *
 * @returns HTTP status of the answer
 * @throws Error when the mail does not offer it, or after 15 s without an answer
 * @see RFC 8058, section 3.2
 */
export async function unsubscribe(mail: Mail): Promise<number> {
  const url = oneClickUrlOf(mail)
  if (url === undefined) throw new Error('this mail has no one-click unsubscribe')
  const { status } = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: ONE_CLICK,
    redirect: 'manual',
    signal: AbortSignal.timeout(15_000),
  })
  return status
}

function readHeader(line: string): MailHeader {
  const unfolded = line.replace(/\r?\n(?=[ \t])/g, '')
  const colon = unfolded.indexOf(':')
  return { name: unfolded.slice(0, colon), value: unfolded.slice(colon + 1).trim() }
}
