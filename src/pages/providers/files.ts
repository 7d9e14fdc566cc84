import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { isLocale, type Locale } from '#src/kernel/locale.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import { createWorkLimiter } from '#src/kernel/work-limiter.ts'
import type { App } from '#src/operations/define.ts'
import { matchesTag, tagOfDocument } from '#src/operations/gate/etag.ts'
import { drawBadge } from '#src/pictures/badge.ts'
import { drawPng } from '#src/pictures/png.ts'
import { drawProvider, drawShared, PICTURE_ROUNDS } from '#src/pictures/provider-picture.ts'
import { queryParametersOf } from '../layout.ts'
import { type ProviderRoute, requireProvider } from './provider.ts'
import type { FoundProvider } from './view.ts'

/** Time for which everybody may cache a file: a voting round takes 90 seconds. */
const FRESH_SECONDS = 60
/** Limits of rendering, which takes a fraction of a second of a thread. */
const RENDERING = { runningMax: 1, waitingMax: 20, waitMs: 5000 } as const
/** Maximum number of cached PNGs, of about 60 KB each. */
const CACHED_MAX = 100
/** Time for which a PNG is cached. */
const KEPT_MS = 10 * MINUTE_MS

/** Each file of a provider, by the end of its path, as a drawing. */
const FILES = {
  'badge.svg': ({ view, name }: FoundProvider) => drawBadge(view, name),
  'rounds.svg': (found: FoundProvider, request: FastifyRequest) =>
    drawProvider(found.view, optionsOf(found, request)),
  'rounds.png': (found: FoundProvider, request: FastifyRequest) =>
    drawProvider(found.view, optionsOf(found, request)),
  'share.png': ({ view, name }: FoundProvider, request: FastifyRequest) =>
    drawShared(view, {
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
  const rendering = createWorkLimiter(RENDERING)
  // The key is the hash of the SVG, so that an unchanged drawing is not rendered again.
  const pngs = createSharedCache<string, Buffer>(app.clock, {
    max: CACHED_MAX,
    freshMs: () => KEPT_MS,
  })
  const render = (svgHash: string, svg: string) =>
    pngs.get(svgHash, () => rendering.take(() => drawPng(svg)))
  for (const [file, draw] of Object.entries(FILES)) {
    server.get<ProviderRoute>(`/providers/:address/${file}`, async (request, reply) => {
      const svg = draw(await requireProvider(app, request, roundOf(request)), request)
      const tag = tagOfDocument(`${file} ${svg}`)
      if (matchesTag(request.headers['if-none-match'], tag)) {
        return setFileHeaders(reply, tag).code(304).send()
      }
      const isPng = file.endsWith('.png')
      const body = isPng ? await render(tagOfDocument(svg), svg) : svg
      return setFileHeaders(reply, tag)
        .type(isPng ? 'image/png' : 'image/svg+xml; charset=utf-8')
        .send(body)
    })
  }
}

/** Sets the headers of a file that other sites may show. */
function setFileHeaders(reply: FastifyReply, tag: string): FastifyReply {
  return reply
    .header('etag', tag)
    .header('cache-control', `public, max-age=${FRESH_SECONDS}`)
    .header('cross-origin-resource-policy', 'cross-origin')
    .header('access-control-allow-origin', '*')
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

/** The language that the address names, because shared caches keep one file for all readers of an address. */
function chosenLocale(request: FastifyRequest): Locale {
  const { lang } = queryParametersOf(request)
  return isLocale(lang) ? lang : 'en'
}
