import { type AnyOperation, defineOperation } from './define.ts'
import { tagOfDocument } from './etag.ts'
import { PricingDocument, pricingDocument } from './pricing-document.ts'

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

/** The operations of this module with a route, in the order of the specification. */
export const pricingOperations: readonly AnyOperation[] = [getPricing]
