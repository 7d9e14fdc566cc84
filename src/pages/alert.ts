import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#src/kernel/errors.ts'
import { isLocale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { actOnLinkedAlert, getLinkedAlert } from '#src/operations/links.ts'
import { alertFormOf, alertPageData } from './alert-view.ts'
import { formOf } from './form.ts'
import { queryParametersOf, sendPage } from './layout.ts'
import { askerByLink, type LinkRoute } from './link.ts'

/**
 * `/a/<code>`: one alert with all its data, for holders of the link. GET changes nothing; a personal link
 * may also acknowledge and mute, by POST.
 */
export function alertPage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'alert')
  const read = (request: FastifyRequest<LinkRoute>) => {
    const { lang } = queryParametersOf(request)
    return ask(request, getLinkedAlert, { query: isLocale(lang) ? { locale: lang } : {} })
  }
  server.get<LinkRoute>('/a/:code', async (request, reply) => {
    const linkedAlert = await read(request)
    if (linkedAlert.page === undefined) return sendGone(app, request, reply, linkedAlert)
    const { page, provider } = linkedAlert
    const now = app.clock.now()
    return sendPage(app, request, reply, {
      view: 'alert',
      isUncached: true,
      locale: page.locale,
      data: (t) => alertPageData(app, t, { page, provider, now }),
    })
  })
  server.post<LinkRoute>('/a/:code', async (request, reply) => {
    try {
      await ask(request, actOnLinkedAlert, { body: alertFormOf(formOf(request)) })
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
      const linkedAlert = await read(request)
      // The watch or alert was deleted meanwhile. If the alert still has a page, that page is shown again.
      if (linkedAlert.page === undefined) return sendGone(app, request, reply, linkedAlert)
    }
    return reply.redirect(request.url, 303)
  })
}

function sendGone(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  { isDeleted }: { readonly isDeleted: boolean },
): FastifyReply {
  const why = isDeleted ? 'deleted' : 'gone'
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    isUncached: true,
    data: (t) => ({ title: t(`pages:alert.${why}.title`), text: t(`pages:alert.${why}.text`) }),
  })
}
