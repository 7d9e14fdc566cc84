import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import files from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { App } from '#src/operations/define.ts'
import { alertPage } from './alert/alert.ts'
import { evidencePage } from './alert/evidence.ts'
import { weeklyCardPicture } from './cards/weekly-card.ts'
import { confirmPage } from './confirm/confirm.ts'
import { unsubscribePage } from './confirm/unsubscribe.ts'
import { connectPage } from './connect/connect.ts'
import { docsPage } from './docs/docs.ts'
import { problemPages } from './docs/problems.ts'
import { answerFailure } from './error-page.ts'
import { isForeignForm, readForms } from './form.ts'
import { homePage } from './home/home.ts'
import {
  ASSETS_FOLDER,
  addressOf,
  CONTENT_SECURITY_POLICY,
  PAGE_CSS,
  SCRIPTS_FOLDER,
} from './layout.ts'
import { previewPicture } from './link-preview.ts'
import { notFoundPage } from './not-found.ts'
import { payPage } from './pay/pay.ts'
import { providerFeeds } from './providers/feeds.ts'
import { providerFiles } from './providers/files.ts'
import { providerPage } from './providers/provider.ts'
import { providersPage } from './providers/providers.ts'
import { reportPage } from './providers/report.ts'
import { siteFiles } from './site-files.ts'
import { authorizePage } from './tokens/authorize.ts'
import { tokensPage } from './tokens/tokens.ts'

/** Every page of the service. `notFoundPage` answers the other paths. */
const PAGES = [
  homePage,
  previewPicture,
  docsPage,
  connectPage,
  payPage,
  alertPage,
  evidencePage,
  providersPage,
  providerPage,
  providerFiles,
  reportPage,
  providerFeeds,
  weeklyCardPicture,
  confirmPage,
  unsubscribePage,
  tokensPage,
  authorizePage,
  problemPages,
  siteFiles,
  notFoundPage,
]

/**
 * Registers the web front door: a Fastify plugin with every page, its styles and security headers. Other
 * routes of the server are unchanged. All pages together have one limit for each network, beside those of the operations
 * that they call.
 */
export async function registerPages(
  server: FastifyInstance,
  { app }: { readonly app: App },
): Promise<void> {
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CONTENT_SECURITY_POLICY },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginEmbedderPolicy: false,
    xFrameOptions: { action: 'deny' },
    // Only this host: its other names and those below it belong to the operator's other services.
    strictTransportSecurity: { includeSubDomains: false },
  })
  // Every page counts, also an unknown one. Files of the layout are the same for everybody and cost nothing.
  server.addHook('onRequest', async (request) => {
    if (!/^\/(?:assets|scripts)\//.test(request.url)) {
      await app.limits.admit('page', request.clientNetwork)
    }
  })
  // The person sees the page as it is without the form.
  server.addHook('onRequest', async (request, reply) => {
    if (isForeignForm(request)) return reply.redirect(addressOf(request), 303)
  })
  await server.register(compress, { global: false, encodings: ['gzip'] })
  const maxAge = HOUR_MS
  const served = { index: false, wildcard: false, maxAge, decorateReply: false } as const
  const globIgnore = ['**/*.css']
  await server.register(files, { root: ASSETS_FOLDER, prefix: '/assets/', globIgnore, ...served })
  server.get('/assets/style.css', (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('cache-control', `public, max-age=${maxAge / 1000}`)
      .compress(PAGE_CSS),
  )
  await server.register(files, { root: SCRIPTS_FOLDER, prefix: '/scripts/', ...served })
  readForms(server)
  server.setErrorHandler((error, request, reply) => answerFailure(app, error, request, reply))
  for (const page of PAGES) page(server, app)
}
