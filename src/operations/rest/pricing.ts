import { type AnyOperation, defineOperation } from '../define.ts'
import { tagOfDocument } from '../gate/etag.ts'
import { PricingDocument, pricingDocument, withoutCatalogue } from './pricing-document.ts'
import { WatchTypePath, WatchTypeView, watchTypeView } from './watch-type.ts'

export const getPricing = defineOperation({
  id: 'getPricing',
  method: 'GET',
  path: '/pricing',
  scope: 'none',
  rate: 'public',
  status: 200,
  output: PricingDocument,
  forAgents: withoutCatalogue,
  etag: tagOfDocument,
  handle: async ({ app }) => pricingDocument(app),
})

/** Describes the signals of one watch type, in the language of the request. */
export const getWatchType = defineOperation({
  id: 'getWatchType',
  isExtension: true,
  tag: 'pricing',
  method: 'GET',
  path: '/watch-types/{type}',
  scope: 'none',
  rate: 'public',
  status: 200,
  params: WatchTypePath,
  output: WatchTypeView,
  etag: tagOfDocument,
  handle: async ({ app, params, locale }) => watchTypeView(app, params.type, locale),
})

/** The operations of this module with a route, in the order of the specification. */
export const pricingOperations: readonly AnyOperation[] = [getPricing, getWatchType]
