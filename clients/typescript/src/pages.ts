import { WatchdogError } from './errors.ts'

interface Page<Item> {
  readonly data: readonly Item[]
  readonly nextCursor: string | null
}

/**
 * Every item of a list. The next page is requested when the items of the one before have been taken.
 *
 * @throws WatchdogError `unexpected_answer` when a cursor comes a second time: such a list would never end
 */
export async function* allPages<Item>(
  readPage: (cursor: { readonly cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const { data, nextCursor } = await readPage(cursor === undefined ? {} : { cursor })
    yield* data
    cursor = nextCursor ?? undefined
    if (cursor === undefined) return
    if (seen.has(cursor)) {
      throw new WatchdogError({ code: 'unexpected_answer', message: 'A list repeats its pages.' })
    }
    seen.add(cursor)
  } while (true)
}
