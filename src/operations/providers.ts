import { getProviderView, ProviderQuery, ProviderView } from '#src/watches/provider-view.ts'
import { defineOperation } from './define.ts'

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
