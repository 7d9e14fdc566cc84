import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import type { App } from '#src/operations/define.ts'
import {
  findSubscription,
  limitMail,
  resubscribe,
  type Subscription,
  unsubscribe,
} from '#src/recipients/consent.ts'
import { sendQuestion } from './confirm-form.ts'
import { formOf } from './form.ts'
import { sendPage } from './layout.ts'

type UnsubscribeOutcome = 'stopped' | 'limited' | 'undone'

interface Route {
  Params: { code: string }
}

/**
 * `/unsubscribe/<code>`: the reader of a mailbox ends its mail. Only the POST changes anything; a mail
 * program's one-click request ends all mail without a question.
 *
 * @see RFC 8058
 */
export function unsubscribePage(server: FastifyInstance, app: App): void {
  server.get<Route>('/unsubscribe/:code', async (request, reply) => {
    const subscription = await findSubscription(app, request.params.code)
    if (subscription === undefined) return gone(app, request, reply)
    if (subscription.on) return ask(app, request, reply, subscription)
    return done(app, request, reply, { subscription, outcome: 'stopped' })
  })
  server.post<Route>('/unsubscribe/:code', async (request, reply) => {
    const { code } = request.params
    const before = await findSubscription(app, code)
    if (before === undefined) return gone(app, request, reply)
    const form = formOf(request)
    const outcome = outcomeOf(form)
    if (outcome === undefined) return ask(app, request, reply, before, 400)
    const subscription = (await change(app, code, outcome, form)) ?? before
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

function change(
  app: App,
  code: string,
  outcome: UnsubscribeOutcome,
  form: Form,
): Promise<Subscription | undefined> {
  switch (outcome) {
    case 'stopped':
      return unsubscribe(app, code)
    case 'limited':
      return limitMail(app, code, 'critical')
    case 'undone': {
      const was = SEVERITIES.find((severity) => severity === form.was)
      return was === undefined ? resubscribe(app, code) : limitMail(app, code, was)
    }
    default:
      return outcome satisfies never
  }
}

function ask(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  subscription: Subscription,
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

function choices(t: Translate, { minSeverity }: Subscription) {
  const stop = { value: 'stop', label: t('pages:unsubscribe.stop'), isPrimary: true }
  const limit = { value: 'critical', label: t('pages:unsubscribe.critical') }
  return minSeverity === 'critical' ? [stop] : [stop, limit]
}

function done(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  result: {
    readonly subscription: Subscription
    readonly outcome: UnsubscribeOutcome
    /** The previous limit, for undoing. */
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
    secret: true,
    data: (t) => ({
      title: t('pages:unsubscribe.gone.title'),
      text: t('pages:unsubscribe.gone.text'),
    }),
  })
}

function values({ reader }: Subscription) {
  return { address: typed(reader.address), wallet: id(shortAddress(reader.wallet)) }
}
