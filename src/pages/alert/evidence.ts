import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AlertEvidence } from '#src/alerts/evidence/model.ts'
import { AppError } from '#src/kernel/errors.ts'
import { isLocale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { getLinkedEvidence } from '#src/operations/pages/links.ts'
import { queryParametersOf, sendPage } from '../layout.ts'
import { askerByLink, type LinkRoute } from '../link.ts'
import { evidenceView } from './evidence-view.ts'

/**
 * `/a/<code>/evidence` and `/a/<code>/evidence.json`: the evidence of an alert, which anybody can check on
 * the chain.
 */
export function evidencePage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'alert')
  const read = async (request: FastifyRequest<LinkRoute>) => {
    const { lang } = queryParametersOf(request)
    const query = isLocale(lang) ? { locale: lang } : {}
    const linkedEvidence = await ask(request, getLinkedEvidence, { query })
    if (linkedEvidence === undefined) throw new AppError('not_found', 'not_found')
    return linkedEvidence
  }
  server.get<LinkRoute>('/a/:code/evidence', async (request, reply) => {
    const linkedEvidence = await read(request)
    return sendPage(app, request, reply, {
      view: 'evidence',
      isUncached: true,
      locale: linkedEvidence.locale,
      data: (t) => evidenceView(t, linkedEvidence, request.params.code),
    })
  })
  server.get<LinkRoute>('/a/:code/evidence.json', async (request, reply) => {
    const { evidence } = await read(request)
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="evidence-${evidence.alertId}.json"`)
      .type('application/json')
      .send(z.encode(AlertEvidence, evidence))
  })
}
