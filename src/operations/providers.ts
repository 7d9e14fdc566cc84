import { getProviderView, ProviderQuery, ProviderView } from '#src/watches/provider-view.ts'
import { type AnyOperation, defineOperation } from './define.ts'

export const getProviderFsp = defineOperation({
  id: 'getProviderFsp',
  method: 'GET',
  path: '/provider-fsp',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: ProviderQuery,
  output: ProviderView,
  handle: ({ app, query }) => getProviderView(app, query),
})

/** The operations of this module with a route, in the order of the specification. */
export const providerOperations: readonly AnyOperation[] = [getProviderFsp]
