import { packed } from '#src/actions/codec.ts'
import type { AlertFilter } from '#src/actions/verbs.ts'

/** Default filter of a list of alerts. */
export const USUAL_FILTER: AlertFilter = {
  time: '7d',
  watchId: undefined,
}

/** Button data of the list with a filter, from its first page. */
export function listData(filter: AlertFilter): string {
  return packed('alert.list', { filter, cursor: undefined })
}
