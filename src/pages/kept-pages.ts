import type { FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import type { App } from '#src/operations/define.ts'
import { type Page, type RenderedPage, renderingKey, renderPage, sendRendered } from './layout.ts'

/** Time for which a page is kept, and the number of pages, of up to about 100 KB each. */
const KEPT_MS = MINUTE_MS
const KEPT_MAX = 200

/** Answers with pages that depend on nothing but their path, language and time zone. */
export interface KeptPages {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: () => Page | Promise<Page>,
  ): Promise<FastifyReply>
}

/** Renders each page once for all who ask within a minute, so that many readers cost what one does. */
export function createKeptPages(app: App): KeptPages {
  const kept = createSharedCache<string, RenderedPage>(app.clock, {
    max: KEPT_MAX,
    freshMs: () => KEPT_MS,
  })
  return {
    async send(request, reply, page) {
      const rendered = await kept.get(renderingKey(request), async () =>
        renderPage(app, request, await page()),
      )
      return sendRendered(request, reply, rendered)
    },
  }
}
