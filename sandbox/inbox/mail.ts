import { simpleParser } from 'mailparser'

/** One header of a mail, unfolded and otherwise as it was sent. */
export interface MailHeader {
  readonly name: string
  readonly value: string
}

/** A mail as it arrived. */
export interface Mail {
  /** Counts from 1 in the order of arrival. */
  readonly id: number
  readonly receivedAt: Date
  /** Who the sending server said it is from and for; the headers may say otherwise. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] }
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly messageId: string | undefined
  readonly inReplyTo: string | undefined
  readonly headers: readonly MailHeader[]
  /** The HTML part, decoded; absent where it is empty. */
  readonly html: string | undefined
  /** The text part, likewise; never made up from the HTML part. */
  readonly text: string | undefined
  /** The whole message, byte for byte. */
  readonly raw: Buffer
}

const ONE_CLICK = 'List-Unsubscribe=One-Click'

/** Reads a mail. What is not a mail is one with little in it. */
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

/** The value of a header, whatever the case of its name; the first one if it is there repeatedly. */
export function headerOf(mail: Mail, name: string): string | undefined {
  const wanted = name.toLowerCase()
  return mail.headers.find((header) => header.name.toLowerCase() === wanted)?.value
}

/** The link that asks whether this address may be written to, where the mail is about that. */
export function confirmLinkOf(mail: Mail): string | undefined {
  const links = (mail.text ?? '').match(/https?:\/\/[^\s<>"]+/g) ?? []
  return links.find((link) => URL.canParse(link) && new URL(link).pathname.startsWith('/confirm/'))
}

/**
 * Where a mail program posts to when its reader presses “Unsubscribe”, if this mail offers that.
 *
 * Plain http counts too, as nothing here is encrypted.
 *
 * @see RFC 8058, section 3.1
 */
export function oneClickUrlOf(mail: Mail): string | undefined {
  if (headerOf(mail, 'List-Unsubscribe-Post')?.trim() !== ONE_CLICK) return undefined
  const links = headerOf(mail, 'List-Unsubscribe')?.matchAll(/<([^<>]+)>/g) ?? []
  return [...links].flatMap(([, link = '']) => (/^https?:/i.test(link) ? [link] : []))[0]
}

/**
 * Unsubscribes as a mail program does, without cookies and without following redirects.
 *
 * @returns the status of the answer
 * @throws Error when the mail does not offer it, or nobody answers within 15 s
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
