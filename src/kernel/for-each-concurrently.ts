/** Runs `run` for each item, `atOnce` at a time; after the first failure no further item is started. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items]
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item)
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, work))
  } finally {
    queue.length = 0
  }
}
