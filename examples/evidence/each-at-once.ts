const AT_ONCE = 8

/** Runs some at a time, and returns the results in order. */
export async function eachAtOnce<In, Out>(
  items: readonly In[],
  run: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  let next = 0
  const work = async () => {
    for (let at = next; at < items.length; at = next) {
      next = at + 1
      results[at] = await run(items[at] as In)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}
