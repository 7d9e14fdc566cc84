import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formatDateTime, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { answerConsent, getConsent } from '#src/operations/links.ts'
import type { ConsentRequest } from '#src/recipients/consent.ts'
import { sendQuestion } from './confirm-form.ts'
import { formOf } from './form.ts'
import { sendPage } from './layout.ts'
import { askerByLink, type LinkRoute } from './link.ts'

type ConfirmOutcome = 'done' | 'already' | 'refused' | 'over' | 'gone'

/** `/confirm/<code>`: asks the reader of a mailbox for consent. Only the POST changes anything. */
export function confirmPage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'confirm')
  server.get<LinkRoute>('/confirm/:code', async (request, reply) => {
    const consent = await ask(request, getConsent)
    if (consent?.state === 'waiting') return sendConsent(app, request, reply, consent)
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
        if (consent?.state === 'waiting') return sendConsent(app, request, reply, consent, 400)
        return showResult(app, request, reply, { consent, outcome: outcomeOf(consent) })
      }
    }
  })
}

/** Outcome of a request that no longer waits for an answer. */
function outcomeOf(consent: ConsentRequest | undefined): ConfirmOutcome {
  if (consent === undefined) return 'gone'
  return consent.state === 'over' ? 'over' : 'already'
}

function sendConsent(
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
      title: t('pages:confirm.question', values(consent)),
      about: [t('pages:confirm.askedBy', askedBy(t, consent)), t('pages:confirm.meaning')],
      choices: [
        { value: 'yes', label: t('pages:confirm.yes'), isPrimary: true },
        { value: 'no', label: t('pages:confirm.no') },
      ],
    }),
  })
}

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
      text: t(`pages:confirm.${outcome}.text`, consent && values(consent)),
    }),
  })
}

function values({ reader }: ConsentRequest) {
  return { address: typed(reader.address), wallet: id(shortAddress(reader.wallet)) }
}

function askedBy(t: Translate, consent: ConsentRequest) {
  const { askedAt, reader } = consent
  return { ...values(consent), time: formatDateTime(askedAt, t.locale, reader.timezone) }
}
