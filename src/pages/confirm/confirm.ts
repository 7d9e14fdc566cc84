import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formatDateTime, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { answerConsent, getConsent } from '#src/operations/pages/links.ts'
import type { ConsentRequest } from '#src/recipients/consent.ts'
import { formOf } from '../form.ts'
import { sendPage } from '../layout.ts'
import { askerByLink, type LinkRoute } from '../link.ts'
import { sendQuestion } from './form.ts'

/**
 * What the page says after an answer, or instead of the question. `already`: the mailbox was confirmed before. `over`:
 * the link is older than a day. `gone`: there is no such request any more.
 */
type ConfirmOutcome = 'done' | 'already' | 'refused' | 'over' | 'gone'

/** `/confirm/<code>`: asks the reader of a mailbox for consent to e-mails. Only the POST stores an answer. */
export function confirmPage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'confirm')
  server.get<LinkRoute>('/confirm/:code', async (request, reply) => {
    const consent = await ask(request, getConsent)
    if (consent?.state === 'waiting') return sendConsentQuestion(app, request, reply, consent)
    return showResult(app, request, reply, { consent, outcome: outcomeOf(consent) })
  })
  server.post<LinkRoute>('/confirm/:code', async (request, reply) => {
    switch (formOf(request).answer) {
      case 'yes': {
        const consent = await ask(request, answerConsent, { body: { agrees: true } })
        const outcome = consent?.state === 'confirmed' ? 'done' : outcomeOf(consent)
        return showResult(app, request, reply, { consent, outcome })
      }
      case 'no': {
        const consent = await ask(request, answerConsent, { body: { agrees: false } })
        const outcome = consent?.state === 'waiting' ? 'refused' : outcomeOf(consent)
        return showResult(app, request, reply, { consent, outcome })
      }
      default: {
        const consent = await ask(request, getConsent)
        if (consent?.state === 'waiting')
          return sendConsentQuestion(app, request, reply, consent, 400)
        return showResult(app, request, reply, { consent, outcome: outcomeOf(consent) })
      }
    }
  })
}

/** Outcome for a request that does not wait for an answer. */
function outcomeOf(consent: ConsentRequest | undefined): ConfirmOutcome {
  if (consent === undefined) return 'gone'
  return consent.state === 'over' ? 'over' : 'already'
}

/** Sends the page with the question; status 400 after a POST without an answer. */
function sendConsentQuestion(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  consent: ConsentRequest,
  status = 200,
): FastifyReply {
  return sendQuestion(app, request, reply, {
    status,
    locale: consent.reader.locale,
    question: (t) => ({
      title: t('pages:confirm.question', mailboxValues(consent)),
      about: [t('pages:confirm.askedBy', askedByValues(t, consent)), t('pages:confirm.meaning')],
      choices: [
        { value: 'yes', label: t('pages:confirm.yes'), isPrimary: true },
        { value: 'no', label: t('pages:confirm.no') },
      ],
    }),
  })
}

/** Sends the page that says the outcome. */
function showResult(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    consent,
    outcome,
  }: { readonly consent: ConsentRequest | undefined; readonly outcome: ConfirmOutcome },
): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'notice',
    status: outcome === 'gone' ? 404 : 200,
    isUncached: true,
    locale: consent?.reader.locale,
    data: (t) => ({
      title: t(`pages:confirm.${outcome}.title`),
      text: t(`pages:confirm.${outcome}.text`, consent && mailboxValues(consent)),
    }),
  })
}

/** Values of the texts: the mailbox, and the wallet whose alerts it gets. */
function mailboxValues({ reader }: ConsentRequest) {
  return { address: typed(reader.address), wallet: id(shortAddress(reader.wallet)) }
}

/** The same values with the time of the request, in the reader's time zone. */
function askedByValues(t: Translate, consent: ConsentRequest) {
  const { askedAt, reader } = consent
  return { ...mailboxValues(consent), time: formatDateTime(askedAt, t.locale, reader.timezone) }
}
