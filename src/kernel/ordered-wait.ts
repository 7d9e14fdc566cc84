/** The longest wait, in seconds, that an answer of another service may order. One answer must not silence a destination for days. */
const ORDERED_SECONDS_MAX = 3600

/** The wait that an answer of another service orders, in seconds: at most an hour. */
export function orderedSeconds(stated: number): number {
  return Math.min(Math.max(0, stated), ORDERED_SECONDS_MAX)
}
