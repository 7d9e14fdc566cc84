/**
 * Combines work that comes at the same time. Items of one key wait while others of it are in hand, and
 * then go as one group; groups of different keys that are ready at the same time go as one batch. So a
 * key has one group at a time, however many items come, and when nothing is in hand nothing waits.
 *
 * It is what makes metered calls cheap: in `npm run bench -- metering` they reach 1.35 times the rate of one plain
 * statement per call over 1,000 wallets, and 5.1 times for one wallet. Settled one at a time they reach 0.32 and 0.18.
 */
export interface Batcher<Item, Result> {
  /**
   * Adds an item; fulfilled with its own result, rejects with what its group failed with.
   *
   * @returns undefined at once when there are too many
   */
  add(key: string, item: Item): Promise<Result> | undefined
  /** Fulfilled when nothing is in hand or waiting. */
  idle(): Promise<void>
}

/** Items of one key that are alike. */
export type Group<Item> = readonly [Item, ...Item[]]

interface BatcherOptions<Item, Result> {
  /**
   * Does groups of different keys. Gives for each group one result per item, or undefined: to be done
   * alone. Whatever it throws is thrown to all of them. Without it all are done alone.
   */
  together?(groups: readonly Group<Item>[]): Promise<readonly (readonly Result[] | undefined)[]>
  /** Does one group, however long that takes; nobody else waits for it. */
  alone(group: Group<Item>): Promise<readonly Result[]>
  /** Whether two items of a key can be in one group. Must be an equivalence. */
  isAlike(one: Item, other: Item): boolean
  readonly batchesAtOnce: number
  readonly groupsPerBatch: number
  readonly itemsPerGroup: number
  /** A batch that has so many items takes no further group. */
  readonly itemsPerBatch: number
  /** Items of one key that may wait beside its group in hand. */
  readonly waitingPerKeyMax: number
  /** Items of all keys, waiting or in hand. */
  readonly itemsMax: number
}

interface Entry<Item, Result> {
  readonly item: Item
  readonly done: PromiseWithResolvers<Result>
}

/** A group in hand. */
interface Taken<Item, Result> {
  readonly key: string
  readonly entries: readonly [Entry<Item, Result>, ...Entry<Item, Result>[]]
}

/** A batcher with nothing in hand. */
export function createBatcher<Item, Result extends object>(
  options: BatcherOptions<Item, Result>,
): Batcher<Item, Result> {
  /** What waits, for each key that has anything waiting or in hand. */
  const queues = new Map<string, Entry<Item, Result>[]>()
  /** Keys with something waiting and nothing in hand, in the order of their turn. */
  const ready = new Set<string>()
  const working = new Set<Promise<void>>()
  let items = 0
  let batches = 0

  function start(): void {
    while (batches < options.batchesAtOnce && ready.size > 0) {
      batches += 1
      track(workTogether(takeBatch()))
    }
  }

  function takeBatch(): readonly Taken<Item, Result>[] {
    const groups: Taken<Item, Result>[] = []
    let taken = 0
    for (const key of ready) {
      if (groups.length === options.groupsPerBatch || taken >= options.itemsPerBatch) break
      ready.delete(key)
      const queue = queues.get(key) ?? []
      const first = queue.shift()
      if (first === undefined) throw new Error('nothing waits for a turn')
      const group = { key, entries: [first, ...takeAlike(first.item, queue, options)] } as const
      groups.push(group)
      taken += group.entries.length
    }
    return groups
  }

  async function workTogether(groups: readonly Taken<Item, Result>[]): Promise<void> {
    try {
      const results = (await options.together?.(groups.map(itemsOf))) ?? []
      for (const [index, group] of groups.entries()) {
        const own = results[index]
        if (own === undefined) track(workAlone(group))
        else finish(group, own)
      }
    } catch (error) {
      for (const group of groups) fail(group, error)
    }
    batches -= 1
    start()
  }

  async function workAlone(group: Taken<Item, Result>): Promise<void> {
    try {
      finish(group, await options.alone(itemsOf(group)))
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
    if (queues.get(key)?.length === 0) queues.delete(key)
    else ready.add(key)
  }

  function track(work: Promise<void>): void {
    const ended = work.finally(() => working.delete(ended))
    working.add(ended)
  }

  return {
    add(key, item) {
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
      start()
      return entry.done.promise
    },
    async idle() {
      while (working.size > 0) await Promise.all(working)
    },
  }
}

function itemsOf<Item, Result>({ entries: [first, ...others] }: Taken<Item, Result>): Group<Item> {
  return [first.item, ...others.map(({ item }) => item)]
}

/** Those of the queue that can go with the first; they leave the queue. */
function takeAlike<Item, Result>(
  first: Item,
  queue: Entry<Item, Result>[],
  { isAlike, itemsPerGroup }: BatcherOptions<Item, Result>,
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
