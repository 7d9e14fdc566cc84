import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '#src/kernel/errors.ts'
import { isLocale } from '#src/kernel/locale.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import type { App } from '#src/operations/define.ts'
import { actOnLinkedAlert, getLinkedAlert } from '#src/operations/pages/links.ts'
import { formOf } from '../form.ts'
import {
  type Page,
  queryParametersOf,
  type RenderedPage,
  renderingKey,
  renderPage,
  sendPage,
  sendRendered,
} from '../layout.ts'
import { askerByLink, type LinkRoute } from '../link.ts'
import { alertFormOf, alertPageData } from './view.ts'

/** Time for which a page is kept, so that many readers of one link cost what one does; its own script asks every 15 s. */
const KEPT_MS = 2000
const KEPT_MAX = 200

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
  const kept = createSharedCache<string, RenderedPage>(app.clock, {
    max: KEPT_MAX,
    freshMs: () => KEPT_MS,
  })
  server.get<LinkRoute>('/a/:code', async (request, reply) => {
    const page = await kept.get(renderingKey(request), async () => {
      const linkedAlert = await read(request)
      if (linkedAlert.page === undefined) return renderPage(app, request, gone(linkedAlert))
      const { page, provider } = linkedAlert
      const now = app.clock.now()
      return renderPage(app, request, {
        view: 'alert',
        isUncached: true,
        locale: page.locale,
        data: (t) => alertPageData(app, t, { page, provider, now }),
      })
    })
    return sendRendered(request, reply, page)
  })
  server.post<LinkRoute>('/a/:code', async (request, reply) => {
    try {
      await ask(request, actOnLinkedAlert, { body: alertFormOf(formOf(request)) })
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
      const linkedAlert = await read(request)
      // The watch or alert was deleted meanwhile. If the alert still has a page, that page is shown again.
      if (linkedAlert.page === undefined) {
        return sendPage(app, request, reply, gone(linkedAlert))
      }
    }
    // The action may have changed the pages of other alerts of the wallet, too.
    kept.drop(() => true)
    return reply.redirect(request.url, 303)
  })
}

/** The page of a link without an alert. */
function gone({ isDeleted }: { readonly isDeleted: boolean }): Page {
  const why = isDeleted ? 'deleted' : 'gone'
  return {
    view: 'notice',
    status: 404,
    isUncached: true,
    data: (t) => ({ title: t(`pages:alert.${why}.title`), text: t(`pages:alert.${why}.text`) }),
  }
}
