import { formatDateTime, shortAddress } from '#src/i18n/format.ts'
import { escapeHtml, id, translator, typed } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { mailWriter } from './page.ts'
import { type MailContent, mailSubject, mailText } from './text.ts'

/** Data of the e-mail that asks an address for its consent. */
export interface ConfirmationRequest {
  readonly address: string
  /** Wallet that requested it. */
  readonly wallet: string
  /** Page on which the reader answers. */
  readonly url: string
  readonly askedAt: Date
  readonly expiresAt: Date
  readonly locale: Locale
  /** IANA name of the time zone in which times are shown. */
  readonly timezone: string
}

/** The e-mail that asks for consent: the question, the button, the expiry, and the wallet that requested it. */
export function confirmationMail(mail: ConfirmationRequest): MailContent {
  const { locale, timezone } = mail
  const t = translator(locale)
  const writer = mailWriter(locale)
  const values = {
    question: { address: typed(mail.address) },
    askedBy: {
      wallet: id(shortAddress(mail.wallet)),
      time: formatDateTime(mail.askedAt, locale, timezone),
    },
    until: { time: formatDateTime(mail.expiresAt, locale, timezone) },
  }
  const subject = t('mail:confirm.subject', { wallet: values.askedBy.wallet })
  const askedBy = t('mail:confirm.askedBy', values.askedBy)
  const html = writer.page({
    title: subject,
    preheader: askedBy,
    asideHtml: '',
    contentHtml: [
      writer.heading(t('mail:confirm.question', values.question)),
      writer.paragraph(escapeHtml(askedBy)),
      writer.button(t('mail:confirm.button'), mail.url),
      writer.muted(t.html('mail:confirm.until', values.until)),
    ],
    footerHtml: [writer.muted(t.html('mail:confirm.footer'))],
  })
  const text = mailText([
    t('mail:confirm.question', values.question),
    '',
    askedBy,
    '',
    t('mail:confirm.button'),
    { url: mail.url },
    '',
    t('mail:confirm.until', values.until),
    '',
    '---',
    t('mail:confirm.footer'),
  ])
  return { subject: mailSubject(subject), html, text }
}
