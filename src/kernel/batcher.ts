import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Combines concurrent work into batches. Items that are added in one turn of the event loop start together.
 * Items of one key wait while a group of the key is in progress, and then form one group; groups of
 * different keys that are ready at the same time form one batch. So a key has one group in progress at a
 * time, however many items are added. If no work is in progress, an item waits only until the end of the
 * turn.
 *
 * Metered calls, reads by a key, counts of limits and sign-ins use it, see docs/performance.md.
 */
export interface Batcher<Item, Result> {
  /**
   * Adds an item; resolves to its own result, rejects with the error of its group.
   *
   * @param key undefined if the item shares its key with no other item
   * @returns undefined at once when too many items are waiting
   */
  add(key: string | undefined, item: Item): Promise<Result> | undefined
  /** Resolves when no item is waiting or in progress. */
  idle(): Promise<void>
}

/** Items of one key that are alike. */
export type BatchGroup<Item> = readonly [Item, ...Item[]]

interface BatcherOptions<Item, Result> {
  /**
   * Processes groups of different keys. Returns for each group one result per item, or undefined if the
   * group must be processed alone. An error rejects all items. If the function is omitted, every group is
   * processed alone.
   */
  processTogether?(
    groups: readonly BatchGroup<Item>[],
  ): Promise<readonly (readonly Result[] | undefined)[]>
  /** Processes one group, however long that takes, without blocking other keys. */
  processAlone(group: BatchGroup<Item>): Promise<readonly Result[]>
  /** Whether two items of a key can share a group. Must be an equivalence relation; by default all of them can. */
  isAlike?(item: Item, other: Item): boolean
  readonly batchesAtOnce: number
  /**
   * Number of waiting items from which on a batch starts beside one in progress; with fewer, they wait until it ends, so
   * that few items do not become many small batches. By default one.
   */
  readonly besideFrom?: number
  /**
   * Longest wait after a batch while fewer than `besideFrom` items wait. Callers that were just answered ask again within
   * it, so the next batch is larger. It is as long as the batch took, so that a quick database is not waited for. An
   * item that is added while none waits starts at once. By default the next batch starts at once.
   */
  readonly lingerMs?: number
  /**
   * Time after which waiting items start even though slow batches are in progress; if omitted, items wait until a
   * batch ends.
   */
  readonly patienceMs?: number
  readonly groupsPerBatch: number
  readonly itemsPerGroup: number
  /** Once a batch has this many items, no further group is added to it. */
  readonly itemsPerBatch: number
  /** Maximum number of items of one key that wait while a group of the key is in progress. */
  readonly waitingPerKeyMax: number
  /** Maximum number of items of all keys, waiting or in progress. */
  readonly itemsMax: number
}

interface Entry<Item, Result> {
  readonly item: Item
  readonly done: PromiseWithResolvers<Result>
}

/** A symbol is the key of a single item. */
type Key = string | symbol

/** A group in progress. */
interface Taken<Item, Result> {
  readonly key: Key
  readonly entries: readonly [Entry<Item, Result>, ...Entry<Item, Result>[]]
}

/**
 * Runs a batch outside the async context of its callers, so that it does not end with the work of one
 * caller.
 */
const outside = AsyncLocalStorage.snapshot()

/** Creates an empty batcher. Long because adding, batching and finishing share the queues. */
export function createBatcher<Item, Result extends object>(
  options: BatcherOptions<Item, Result>,
): Batcher<Item, Result> {
  /** Waiting items, for each key with items waiting or in progress. */
  const queues = new Map<Key, Entry<Item, Result>[]>()
  /** Keys with items waiting and none in progress, in the order of their turn. */
  const ready = new Set<Key>()
  const working = new Set<Promise<void>>()
  let items = 0
  let batches = 0
  let taken = 0
  let isScheduled = false
  let isTimed = false
  let isLingering = false

  function startSoon(): void {
    if (isScheduled) return
    isScheduled = true
    const { promise, resolve } = Promise.withResolvers<void>()
    track(promise)
    setImmediate(() => {
      isScheduled = false
      start()
      resolve()
    })
  }

  function mayStart(): boolean {
    if (ready.size === 0 || batches >= options.batchesAtOnce) return false
    const isFree = batches === 0 && !isLingering
    return isFree || items - taken >= (options.besideFrom ?? 1)
  }

  /** Lets the items that wait at the end of a batch be joined by others. */
  function linger(batchMs: number): void {
    const { lingerMs } = options
    if (lingerMs === undefined || batches > 0 || ready.size === 0) return
    isLingering = true
    const { promise, resolve } = Promise.withResolvers<void>()
    track(promise)
    setTimeout(
      () => {
        isLingering = false
        start()
        resolve()
      },
      Math.min(batchMs, lingerMs),
    )
  }

  function start(): void {
    while (mayStart()) startBatch()
    if (options.patienceMs === undefined || ready.size === 0 || isTimed) return
    isTimed = true
    setTimeout(() => {
      isTimed = false
      if (ready.size > 0) startBatch()
      start()
    }, options.patienceMs)
  }

  function startBatch(): void {
    batches += 1
    track(outside(() => workTogether(takeBatch())))
  }

  function takeBatch(): readonly Taken<Item, Result>[] {
    const groups: Taken<Item, Result>[] = []
    let inBatch = 0
    for (const key of ready) {
      if (groups.length === options.groupsPerBatch || inBatch >= options.itemsPerBatch) break
      ready.delete(key)
      const queue = queues.get(key) ?? []
      const first = queue.shift()
      if (first === undefined) throw new Error('nothing waits for a turn')
      const group = { key, entries: [first, ...takeAlike(first.item, queue, options)] } as const
      groups.push(group)
      inBatch += group.entries.length
    }
    taken += inBatch
    return groups
  }

  async function workTogether(groups: readonly Taken<Item, Result>[]): Promise<void> {
    const startedAt = performance.now()
    try {
      const results = (await options.processTogether?.(groups.map(itemsOf))) ?? []
      for (const [index, group] of groups.entries()) {
        const groupResults = results[index]
        if (groupResults === undefined) track(workAlone(group))
        else finish(group, groupResults)
      }
    } catch (error) {
      for (const group of groups) fail(group, error)
    }
    batches -= 1
    linger(performance.now() - startedAt)
    start()
  }

  async function workAlone(group: Taken<Item, Result>): Promise<void> {
    try {
      finish(group, await options.processAlone(itemsOf(group)))
    } catch (error) {
      fail(group, error)
    }
    start()
  }

  function finish(group: Taken<Item, Result>, results: readonly Result[]): void {
    for (const [index, { done }] of group.entries.entries()) {
      const result = results[index]
      if (result !== undefined) done.resolve(result)
      else done.reject(new Error('an item of a group has no result'))
    }
    release(group)
  }

  function fail(group: Taken<Item, Result>, error: unknown): void {
    for (const { done } of group.entries) done.reject(error)
    release(group)
  }

  function release({ key, entries }: Taken<Item, Result>): void {
    items -= entries.length
    taken -= entries.length
    if (queues.get(key)?.length === 0) queues.delete(key)
    else ready.add(key)
  }

  function track(work: Promise<void>): void {
    const ended = work.finally(() => working.delete(ended))
    working.add(ended)
  }

  return {
    add(shared, item) {
      const key = shared ?? Symbol('single item')
      const known = queues.get(key)
      const isFull = known !== undefined && known.length >= options.waitingPerKeyMax
      if (isFull || items >= options.itemsMax) return undefined
      const queue = known ?? []
      if (known === undefined) {
        queues.set(key, queue)
        ready.add(key)
      }
      const entry = { item, done: Promise.withResolvers<Result>() }
      queue.push(entry)
      items += 1
      if (batches < options.batchesAtOnce) startSoon()
      else start()
      return entry.done.promise
    },
    async idle() {
      while (working.size > 0) await Promise.all(working)
    },
  }
}

function itemsOf<Item, Result>({
  entries: [first, ...others],
}: Taken<Item, Result>): BatchGroup<Item> {
  return [first.item, ...others.map(({ item }) => item)]
}

/** Removes the first item and all items that are alike from the queue, and returns them. */
function takeAlike<Item, Result>(
  first: Item,
  queue: Entry<Item, Result>[],
  { isAlike = () => true, itemsPerGroup }: BatcherOptions<Item, Result>,
): readonly Entry<Item, Result>[] {
  const taken: Entry<Item, Result>[] = []
  const left: Entry<Item, Result>[] = []
  for (const entry of queue.splice(0)) {
    const fits = taken.length + 1 < itemsPerGroup && isAlike(first, entry.item)
    if (fits) taken.push(entry)
    else left.push(entry)
  }
  queue.push(...left)
  return taken
}
