import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import type { App } from '#src/operations/define.ts'
import { changeMail, getMail } from '#src/operations/pages/links.ts'
import type { MailSubscription } from '#src/recipients/consent.ts'
import { formOf } from '../form.ts'
import { sendPage } from '../layout.ts'
import { askerByLink, type LinkRoute } from '../link.ts'
import { sendQuestion } from './form.ts'

type UnsubscribeOutcome = 'stopped' | 'limited' | 'undone'

/**
 * `/unsubscribe/<code>`: the reader of a mailbox stops its e-mails. Only the POST changes anything; a mail
 * program's one-click request stops all e-mails without a question.
 *
 * @see RFC 8058
 */
export function unsubscribePage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'unsubscribe')
  server.get<LinkRoute>('/unsubscribe/:code', async (request, reply) => {
    const subscription = await ask(request, getMail)
    if (subscription === undefined) return gone(app, request, reply)
    if (subscription.on) return sendChoices(app, request, reply, subscription)
    return done(app, request, reply, { subscription, outcome: 'stopped' })
  })
  server.post<LinkRoute>('/unsubscribe/:code', async (request, reply) => {
    const before = await ask(request, getMail)
    if (before === undefined) return gone(app, request, reply)
    const form = formOf(request)
    const outcome = outcomeOf(form)
    if (outcome === undefined) return sendChoices(app, request, reply, before, 400)
    const subscription =
      (await ask(request, changeMail, { body: changeOf(outcome, form) })) ?? before
    const undo = outcome === 'limited' ? before.minSeverity : undefined
    return done(app, request, reply, { subscription, outcome, undo })
  })
}

type Form = Readonly<Record<string, unknown>>

function outcomeOf(form: Form): UnsubscribeOutcome | undefined {
  if (form['List-Unsubscribe'] === 'One-Click') return 'stopped'
  switch (form.answer) {
    case 'stop':
      return 'stopped'
    case 'critical':
      return 'limited'
    case 'undo':
      return 'undone'
    default:
      return undefined
  }
}

function changeOf(outcome: UnsubscribeOutcome, form: Form) {
  switch (outcome) {
    case 'stopped':
      return { isOn: false }
    case 'limited':
      return { minSeverity: 'critical' }
    case 'undone': {
      const was = SEVERITIES.find((severity) => severity === form.was)
      return was === undefined ? { isOn: true } : { minSeverity: was }
    }
    default:
      return outcome satisfies never
  }
}

function sendChoices(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  subscription: MailSubscription,
  status = 200,
): FastifyReply {
  return sendQuestion(app, request, reply, {
    status,
    locale: subscription.reader.locale,
    question: (t) => ({
      title: t('pages:unsubscribe.question', values(subscription)),
      about: [t('pages:unsubscribe.about', values(subscription))],
      choices: choices(t, subscription),
    }),
  })
}

function choices(t: Translate, { minSeverity }: MailSubscription) {
  const stop = { value: 'stop', label: t('pages:unsubscribe.stop'), isPrimary: true }
  const limit = { value: 'critical', label: t('pages:unsubscribe.critical') }
  return minSeverity === 'critical' ? [stop] : [stop, limit]
}

function done(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  result: {
    readonly subscription: MailSubscription
    readonly outcome: UnsubscribeOutcome
    /** The previous limit, to which the reader can return. */
    readonly undo?: Severity | undefined
  },
): FastifyReply {
  const { subscription, outcome, undo } = result
  return sendQuestion(app, request, reply, {
    locale: subscription.reader.locale,
    question: (t) => ({
      title: t(`pages:unsubscribe.${outcome}.title`),
      about: [t(`pages:unsubscribe.${outcome}.text`, values(subscription))],
      hidden: undo === undefined ? undefined : { name: 'was', value: undo },
      choices:
        outcome === 'undone'
          ? choices(t, subscription)
          : [{ value: 'undo', label: t('pages:unsubscribe.undo') }],
    }),
  })
}

function gone(app: App, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    isUncached: true,
    data: (t) => ({
      title: t('pages:unsubscribe.gone.title'),
      text: t('pages:unsubscribe.gone.text'),
    }),
  })
}

function values({ reader }: MailSubscription) {
  return { address: typed(reader.address), wallet: id(shortAddress(reader.wallet)) }
}
