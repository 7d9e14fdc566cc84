/**
 * Caches results of a pure function by its text argument. The results of the most recent texts are kept,
 * between `max` and twice as many.
 *
 * @param compute the function; its errors are not cached
 */
export function memoized<Value>(
  max: number,
  compute: (text: string) => Value,
): (text: string) => Value {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  return (text) => {
    const recent = young.get(text)
    if (recent !== undefined) return recent
    const value = old.get(text) ?? compute(text)
    if (young.size >= max) {
      old = young
      young = new Map()
    }
    young.set(text, value)
    return value
  }
}
