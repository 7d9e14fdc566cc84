import { z } from 'zod'
import { LOCALES } from '#src/kernel/locale.ts'
import { defineOperation } from './define.ts'
import { tagOfDocument } from './etag.ts'
import { openApiDocument } from './openapi.ts'
import { PricingDocument, pricingDocument } from './pricing-document.ts'

export const getOpenApi = defineOperation({
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  scope: 'none',
  rate: 'public',
  status: 200,
  query: z.strictObject({ locale: z.enum(LOCALES).optional() }),
  output: z.record(z.string(), z.unknown()).meta({ id: 'OpenApiDocument' }),
  etag: tagOfDocument,
  handle: async ({ app, query, locale }) => openApiDocument(app, query.locale ?? locale),
})

export const getPricing = defineOperation({
  id: 'getPricing',
  method: 'GET',
  path: '/pricing',
  scope: 'none',
  rate: 'public',
  status: 200,
  output: PricingDocument,
  etag: tagOfDocument,
  handle: async ({ app }) => pricingDocument(app),
})
