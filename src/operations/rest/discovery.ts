import { z } from 'zod'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { type AnyOperation, type App, defineOperation } from '../define.ts'
import { tagOfDocument } from '../gate/etag.ts'
import { type Documented, openApiDocument } from '../openapi/openapi.ts'

export const getOpenApi = defineOperation({
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  scope: 'none',
  rate: 'public',
  status: 200,
  query: z.strictObject({ locale: z.enum(LOCALES).optional() }),
  output: z.record(z.string(), z.unknown()).meta({ id: 'OpenApiDocument' }),
  isConstant: true,
  etag: tagOfDocument,
  handle: async ({ app, query, locale }) => cachedDocument(app, query.locale ?? locale),
})

/** Documents by language. Each is created once per service, because the registry does not change. */
const documents = new WeakMap<App['operations'], Map<string, Record<string, unknown>>>()

function cachedDocument(app: Documented, locale: Locale): Record<string, unknown> {
  const ofService = documents.get(app.operations) ?? new Map<string, Record<string, unknown>>()
  documents.set(app.operations, ofService)
  const key = `${locale} ${app.publicUrl} ${app.supportUrl}`
  const document = ofService.get(key) ?? openApiDocument(app, locale)
  ofService.set(key, document)
  return document
}

/** The operations of this module with a route, in the order of the specification. */
export const discoveryOperations: readonly AnyOperation[] = [getOpenApi]
