import type { FastifyInstance } from 'fastify'
import { DAY_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { readWeeklyCard } from '#src/notices/weekly-link.ts'
import type { App } from '#src/operations/define.ts'
import { drawWeeklyCard } from '#src/pictures/weekly-card.ts'
import { queryParametersOf } from '../layout.ts'
import { createPngs } from '../pngs.ts'

/**
 * `/cards/week.png?card=<code>`: the picture of a weekly card. Its content is in the code, which this service signed, so that
 * the picture stays the same and nobody can make one in the name of the service.
 */
export function weeklyCardPicture(server: FastifyInstance, app: App): void {
  const render = createPngs(app.clock)
  server.get('/cards/week.png', async (request, reply) => {
    const card = readWeeklyCard(app.box, queryParametersOf(request)['card'] ?? '')
    if (card === undefined) throw new AppError('not_found', 'not_found')
    const png = await render(drawWeeklyCard(card, new URL(app.publicUrl).host))
    return reply
      .header('cache-control', `public, max-age=${(7 * DAY_MS) / 1000}, immutable`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/png')
      .send(png)
  })
}
