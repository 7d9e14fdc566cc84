import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type AlertPage,
  findLinkedActor,
  isAlertLink,
  type LinkedActor,
  readLinked,
} from '#src/alerts/public-view.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { isLocale } from '#src/kernel/locale.ts'
import { Instant } from '#src/kernel/units.ts'
import { acknowledgeAlert, muteEpisode, muteWatchOf } from '#src/operations/chat-alerts.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { getProviderView, type ProviderView } from '#src/watches/provider-view.ts'
import { type AlertAct, alertView, isAlertAct } from './alert-view.ts'
import { formOf } from './form.ts'
import { queryOf, sendPage } from './layout.ts'
import type { PageLimits } from './limits.ts'

interface Route {
  Params: { code: string }
}

const ROUNDS = 20

/**
 * `/a/<code>`: one alert with all its data, for holders of the link. GET changes nothing; a personal link
 * may also acknowledge and mute, by POST.
 */
export function alertPage(server: FastifyInstance, app: App, limits: PageLimits): void {
  server.get<Route>('/a/:code', async (request, reply) => {
    const page = await read(app, request)
    if (page === undefined) return sendGone(app, request, reply)
    return await sendAlert(app, request, reply, page)
  })
  server.post<Route>('/a/:code', async (request, reply) => {
    const page = await read(app, request)
    if (page === undefined) return sendGone(app, request, reply)
    await limits.admit('act', request)
    const { answer } = formOf(request)
    const actor = await findLinkedActor(app, request.params.code)
    if (actor === undefined)
      throw new AppError('forbidden', 'insufficient_scope', { values: { scope: 'write' } })
    if (isAlertAct(answer)) await act(app, actor, answer)
    return reply.redirect(request.url, 303)
  })
}

function read(app: App, request: FastifyRequest<Route>): Promise<AlertPage | undefined> {
  const { lang } = queryOf(request)
  return readLinked(app, request.params.code, isLocale(lang) ? lang : undefined)
}

function sendGone(app: App, request: FastifyRequest<Route>, reply: FastifyReply): FastifyReply {
  const why = isAlertLink(app.box, request.params.code) ? 'deleted' : 'gone'
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    secret: true,
    data: (t) => ({ title: t(`pages:alert.${why}.title`), text: t(`pages:alert.${why}.text`) }),
  })
}

async function sendAlert(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  page: AlertPage,
): Promise<FastifyReply> {
  const provider = await providerOf(app, page)
  const now = app.clock.now()
  return sendPage(app, request, reply, {
    view: 'alert',
    secret: true,
    locale: page.locale,
    data: (t) => alertView(app, t, { page, provider, now }),
  })
}

/** Rounds of the alert's provider; without them the page omits this part. */
async function providerOf(app: App, page: AlertPage): Promise<ProviderView | undefined> {
  const { provider } = page
  if (provider === null) return undefined
  try {
    return await getProviderView(app, { provider, rounds: ROUNDS })
  } catch (error) {
    if (error instanceof AppError && error.kind === 'upstream') return undefined
    throw error
  }
}

async function act(app: App, actor: LinkedActor, answer: AlertAct): Promise<void> {
  const { caller, alertId: alert, by } = actor
  const id = alert
  const run = (operation: typeof muteEpisode | typeof muteWatchOf, body: object) =>
    invoke<unknown>(app, operation, caller, { body })
  const until = (hours: number) =>
    Instant.encode(new Date(app.clock.now().getTime() + hours * HOUR_MS))
  switch (answer) {
    case 'ack':
    case 'unack':
      await invoke(app, acknowledgeAlert, caller, {
        body: { id, acknowledged: answer === 'ack', by },
      })
      return
    case 'mute1':
      await run(muteWatchOf, { id, until: until(1) })
      return
    case 'mute8':
      await run(muteWatchOf, { id, until: until(8) })
      return
    case 'muteRecovered':
      await run(muteEpisode, { id, muted: true })
      return
    case 'unmute':
      await run(muteEpisode, { id, muted: false })
      await run(muteWatchOf, { id, until: null })
      return
    default:
      answer satisfies never
  }
}
