import type { FastifyInstance } from 'fastify'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import type { AnyOperation, App } from '#src/operations/define.ts'
import { API_PREFIX } from '#src/operations/openapi.ts'
import { sendPage } from './layout.ts'

/** `/docs`: every operation, one below the other, from the registry that makes the routes. */
export function docsPage(server: FastifyInstance, app: App): void {
  server.get('/docs', (request, reply) =>
    sendPage(app, request, reply, {
      view: 'docs',
      data: (t) => ({
        title: t('pages:frame.docs'),
        intro: t('operations:info.description'),
        security: t('operations:info.security'),
        operations: app.operations.flatMap((operation) => described(t, operation)),
        openapi: `${API_PREFIX}/openapi.json?locale=${t.locale}`,
      }),
    }),
  )
}

/** Nothing for an operation without a route. */
function described(t: Translate, { id, method, path, scope }: AnyOperation) {
  if (path === undefined) return []
  const address = API_PREFIX + path
  const summary = t(builtKey(`operations:${id}.summary`))
  const description = t(builtKey(`operations:${id}.description`))
  return [{ id, method, address, summary, description, scope: scope === 'none' ? null : scope }]
}
