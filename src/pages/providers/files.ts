import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { App } from '#src/operations/define.ts'
import { drawBadge } from '#src/pictures/badge.ts'
import { drawProvider, drawShared, PICTURE_ROUNDS } from '#src/pictures/provider-picture.ts'
import { chosenLocale, queryParametersOf } from '../layout.ts'
import { createPngs } from '../pngs.ts'
import { createFileSender } from './file-sender.ts'
import { type ProviderRoute, requireProvider } from './provider.ts'
import type { FoundProvider } from './view.ts'

/** Each file of a provider, by the end of its path, as a drawing. */
const FILES = {
  'badge.svg': ({ view, name }: FoundProvider) => drawBadge(view, name),
  'rounds.svg': (found: FoundProvider, request: FastifyRequest) =>
    drawProvider(found.view, optionsOf(found, request)),
  'rounds.png': (found: FoundProvider, request: FastifyRequest) =>
    drawProvider(found.view, optionsOf(found, request)),
  'share.png': ({ view, name }: FoundProvider, request: FastifyRequest, host: string) =>
    drawShared(view, {
      host,
      rounds: PICTURE_ROUNDS[0],
      palette: 'dark',
      ...timeOf(request),
      name,
      locale: chosenLocale(request),
    }),
} as const

/**
 * `/providers/<address>/badge.svg`, `rounds.svg`, `rounds.png`, `share.png`: files that other sites may
 * embed. `?rounds=100`: more rounds; `?theme=light`: on white; `?lang=de`: in German; `?round=1519400`: as of this
 * voting round, as long as it is stored, for the message of a chat.
 */
export function providerFiles(server: FastifyInstance, app: App): void {
  const render = createPngs(app.clock)
  const send = createFileSender(app.clock)
  for (const [file, draw] of Object.entries(FILES)) {
    server.get<ProviderRoute>(`/providers/:address/${file}`, async (request, reply) => {
      const found = await requireProvider(app, request, roundOf(request))
      const text = draw(found, request, new URL(app.publicUrl).host)
      const isPng = file.endsWith('.png')
      return send(request, reply, {
        key: request.url,
        ...{ type: isPng ? 'image/png' : 'image/svg+xml', text },
        ...(isPng && { render }),
      })
    })
  }
}

function optionsOf({ name }: FoundProvider, request: FastifyRequest) {
  const { rounds, theme } = queryParametersOf(request)
  const [few, many] = PICTURE_ROUNDS
  return {
    rounds: rounds === String(many) ? many : few,
    palette: theme === 'light' ? 'light' : 'dark',
    ...timeOf(request),
    name,
    locale: chosenLocale(request),
  } as const
}

/** The voting round in the address; undefined for anything else. */
function roundOf(request: FastifyRequest): number | undefined {
  const { round } = queryParametersOf(request)
  return /^\d{1,9}$/.test(round ?? '') ? Number(round) : undefined
}

/** The zone of the time in a picture. A message has its time itself, in the zone of its reader. */
function timeOf(request: FastifyRequest): { readonly timezone?: string } {
  return roundOf(request) === undefined ? { timezone: 'UTC' } : {}
}
