import {
  EpochReport,
  EpochReportPath,
  getEpochReport as readReport,
} from '#src/watches/epoch-report.ts'
import { MetricsPath, getProviderMetrics as readMetrics } from '#src/watches/provider-metrics.ts'
import { getProviderView, ProviderQuery, ProviderView } from '#src/watches/provider-view.ts'
import { type AnyOperation, defineOperation } from '../define.ts'

export const getProviderFsp = defineOperation({
  id: 'getProviderFsp',
  method: 'GET',
  path: '/provider-fsp',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: ProviderQuery,
  output: ProviderView,
  rows: ({ rounds }) => rounds,
  handle: ({ app, query }) => getProviderView(app, query),
})

export const getProviderMetrics = defineOperation({
  id: 'getProviderMetrics',
  isExtension: true,
  tag: 'provider-fsp',
  method: 'GET',
  path: '/providers/{provider}/metrics',
  scope: 'read',
  rate: 'read',
  status: 200,
  params: MetricsPath,
  errors: ['provider_not_watched'],
  produces: 'text/plain',
  handle: async ({ app, caller, params: { provider }, locale }) =>
    whole(await readMetrics(app, caller, { provider, locale })),
})

export const getEpochReport = defineOperation({
  id: 'getEpochReport',
  isExtension: true,
  tag: 'provider-fsp',
  method: 'GET',
  path: '/providers/{provider}/epochs/{epoch}',
  scope: 'read',
  rate: 'read',
  status: 200,
  params: EpochReportPath,
  output: EpochReport,
  errors: ['not_found'],
  handle: ({ app, params }) => readReport(app, params),
})

/** A text that is sent in one piece. */
async function* whole(text: string): AsyncIterable<string> {
  yield text
}

/** The operations of this module with a route, in the order of the specification. */
export const providerOperations: readonly AnyOperation[] = [
  getProviderFsp,
  getProviderMetrics,
  getEpochReport,
]
