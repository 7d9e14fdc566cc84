import { type AnyOperation, defineOperation } from '../define.ts'
import { readStats, Stats } from '../figures/figures.ts'

export const getStats = defineOperation({
  id: 'getStats',
  method: 'GET',
  path: '/stats',
  scope: 'none',
  rate: 'public',
  status: 200,
  output: Stats,
  handle: ({ app }) => readStats(app),
})

/** The operations of this module with a route, in the order of the specification. */
export const statsOperations: readonly AnyOperation[] = [getStats]
