import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { runs } from '../../test/support/runs.ts'
import { type BatchGroup, createBatcher } from './batcher.ts'

interface Item {
  readonly name: string
  readonly kind?: string
}
type Result = { readonly of: string }

const LIMITS = {
  batchesAtOnce: 1,
  groupsPerBatch: 3,
  itemsPerGroup: 4,
  itemsPerBatch: 6,
  waitingPerKeyMax: 10,
  itemsMax: 20,
}
const isAlike = (a: Item, b: Item) => a.kind === b.kind
const answers = (group: BatchGroup<Item>): readonly Result[] =>
  group.map(({ name }) => ({ of: name }))

/** A batcher whose work waits until it is released, one piece after the other. */
function held(
  over: Partial<
    typeof LIMITS & {
      readonly patienceMs: number
      readonly besideFrom: number
      readonly lingerMs: number
    }
  > = {},
) {
  const begun: string[][][] = []
  const gates: PromiseWithResolvers<void>[] = []
  const batcher = createBatcher<Item, Result>({
    ...LIMITS,
    ...over,
    isAlike,
    processTogether: async (groups) => {
      const gate = Promise.withResolvers<void>()
      begun.push(groups.map((group) => group.map(({ name }) => name)))
      gates.push(gate)
      await gate.promise
      return groups.map(answers)
    },
    processAlone: async () => {
      throw new Error('nothing is done alone here')
    },
  })
  const letGo = async () => {
    gates.shift()?.resolve()
    await turn()
  }
  return { batcher, begun, letGo }
}

describe('a batcher', () => {
  test('starts a batch at the end of the event-loop turn when none is running', async () => {
    const { batcher, begun, letGo } = held()
    const result = batcher.add('a', { name: 'a1' })
    expect(begun).toEqual([])
    await turn()
    expect(begun).toEqual([[['a1']]])
    await letGo()
    expect(await result).toEqual({ of: 'a1' })
    await batcher.idle()
  })

  test('puts items of one event-loop turn into one batch', async () => {
    const { batcher, begun, letGo } = held({ batchesAtOnce: 3 })
    for (const name of ['a1', 'b1', 'a2']) void batcher.add(name.slice(0, 1), { name })
    await turn()
    expect(begun).toEqual([[['a1', 'a2'], ['b1']]])
    await letGo()
    await batcher.idle()
  })

  test('runs a batch outside of the async context of its callers', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const batcher = createBatcher<Item, Result>({
      ...LIMITS,
      isAlike,
      processAlone: async (group) => {
        seen.push(context.getStore())
        return answers(group)
      },
    })
    await context.run('a caller', () => batcher.add('a', { name: 'a1' }))
    expect(seen).toEqual([undefined])
  })

  test('starts another batch when the running ones take too long', async () => {
    const { batcher, begun, letGo } = held({ patienceMs: 1 })
    void batcher.add('a', { name: 'a1' })
    await turn()
    void batcher.add('b', { name: 'b1' })
    await expect.poll(() => begun).toEqual([[['a1']], [['b1']]])
    await letGo()
    await letGo()
    await batcher.idle()
  })

  test('starts a batch beside a running one only when enough items wait', async () => {
    const { batcher, begun, letGo } = held({ batchesAtOnce: 2, besideFrom: 2 })
    void batcher.add('a', { name: 'a1' })
    await turn()
    void batcher.add('b', { name: 'b1' })
    await turn()
    expect(begun).toEqual([[['a1']]])
    void batcher.add('c', { name: 'c1' })
    await turn()
    expect(begun).toEqual([[['a1']], [['b1'], ['c1']]])
    void batcher.add('d', { name: 'd1' })
    await letGo()
    expect(begun.slice(2)).toEqual([])
    await letGo()
    expect(begun.slice(2)).toEqual([[['d1']]])
    await letGo()
    await batcher.idle()
  })

  test('lets items that wait at the end of a batch be joined by others', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const { batcher, begun, letGo } = held({ besideFrom: 3, lingerMs: 5 })
      void batcher.add('a', { name: 'a1' })
      await turn()
      void batcher.add('b', { name: 'b1' })
      await letGo()
      const idle = batcher.idle()
      void batcher.add('c', { name: 'c1' })
      await turn()
      expect(begun).toEqual([[['a1']]])
      vi.advanceTimersByTime(5)
      expect(begun).toEqual([[['a1']], [['b1'], ['c1']]])
      await letGo()
      await idle
      // Nothing waited when the batch ended.
      void batcher.add('d', { name: 'd1' })
      await turn()
      expect(begun.slice(2)).toEqual([[['d1']]])
      await letGo()
      await batcher.idle()
    } finally {
      vi.useRealTimers()
    }
  })

  test('does not let many items wait at the end of a batch', async () => {
    const { batcher, begun, letGo } = held({ besideFrom: 3, lingerMs: 1000 })
    void batcher.add('a', { name: 'a1' })
    await turn()
    for (const name of ['a2', 'a3', 'a4']) void batcher.add('a', { name })
    await letGo()
    expect(begun.slice(1)).toEqual([[['a2', 'a3', 'a4']]])
    await letGo()
    await batcher.idle()
  })

  test('starts few items beside a running batch that takes too long', async () => {
    const { batcher, begun, letGo } = held({ batchesAtOnce: 2, besideFrom: 2, patienceMs: 1 })
    void batcher.add('a', { name: 'a1' })
    await turn()
    void batcher.add('b', { name: 'b1' })
    await expect.poll(() => begun).toEqual([[['a1']], [['b1']]])
    await letGo()
    await letGo()
    await batcher.idle()
  })

  test('processes items added meanwhile in one batch, one group per key, each with its own result', async () => {
    const { batcher, begun, letGo } = held()
    const names = ['a1', 'a2', 'b1', 'a3', 'c1', 'b2']
    const results: (Promise<Result> | undefined)[] = []
    for (const name of names) {
      results.push(batcher.add(name.slice(0, 1), { name }))
      if (name === 'a1') await turn()
    }
    await letGo()
    // The key that was just served is queued behind the waiting ones.
    expect(begun.slice(1)).toEqual([[['b1', 'b2'], ['c1'], ['a2', 'a3']]])
    await letGo()
    expect(await Promise.all(results)).toEqual(names.map((name) => ({ of: name })))
  })

  test('processes one group of a key at a time', async () => {
    const { batcher, begun, letGo } = held({ batchesAtOnce: 3 })
    for (const name of ['a1', 'a2', 'b1']) {
      void batcher.add(name.slice(0, 1), { name })
      await turn()
    }
    expect(begun).toEqual([[['a1']], [['b1']]])
    await letGo()
    expect(begun.slice(2)).toEqual([[['a2']]])
    await letGo()
    await letGo()
    await batcher.idle()
  })

  test('groups only items with equal group keys; the others follow in the next batch', async () => {
    const { batcher, begun, letGo } = held()
    const kinds = ['x', 'x', 'y', 'x', 'y']
    for (const [index, kind] of kinds.entries()) {
      void batcher.add('a', { name: `${index}`, kind })
      if (index === 0) await turn()
    }
    for (let round = 0; round < 4; round++) await letGo()
    expect(begun).toEqual([[['0']], [['1', '3']], [['2', '4']]])
  })

  test('limits the size of groups and batches', async () => {
    const { batcher, begun, letGo } = held({ waitingPerKeyMax: 20, itemsMax: 40 })
    void batcher.add('z', { name: 'z' })
    await turn()
    for (const key of ['a', 'b', 'c', 'd']) {
      for (let index = 0; index < 5; index++) void batcher.add(key, { name: `${key}${index}` })
    }
    for (let round = 0; round < 12; round++) await letGo()
    expect(begun.every((batch) => batch.length <= 3)).toBe(true)
    expect(begun.flat().every((group) => group.length <= 4)).toBe(true)
    expect(begun[1]?.map((group) => group.length)).toEqual([4, 4])
    expect(begun.flat(2)).toHaveLength(21)
  })

  test('refuses items beyond the limits, of one key or in all, and accepts more when there is room', async () => {
    const { batcher, letGo } = held({ waitingPerKeyMax: 2, itemsMax: 4 })
    const add = (key: string) => batcher.add(key, { name: key }) !== undefined
    expect(add('a')).toBe(true)
    await turn()
    expect([add('a'), add('a'), add('a')]).toEqual([true, true, false])
    expect([add('b'), add('c')]).toEqual([true, false])
    await letGo()
    expect(add('c')).toBe(true)
    await letGo()
    await letGo()
    await batcher.idle()
  })

  test('processes other keys while one group is processed alone', async () => {
    const slow = Promise.withResolvers<void>()
    const batcher = createBatcher<Item, Result>({
      ...LIMITS,
      isAlike,
      processTogether: async (groups) =>
        groups.map((group) => (group[0].name.startsWith('slow') ? undefined : answers(group))),
      processAlone: async (group) => {
        await slow.promise
        return answers(group)
      },
    })
    const first = batcher.add('s', { name: 'slow 1' })
    const second = batcher.add('s', { name: 'slow 2' })
    expect(await batcher.add('a', { name: 'quick 1' })).toEqual({ of: 'quick 1' })
    expect(await batcher.add('a', { name: 'quick 2' })).toEqual({ of: 'quick 2' })
    slow.resolve()
    expect(await Promise.all([first, second])).toEqual([{ of: 'slow 1' }, { of: 'slow 2' }])
  })

  test('rejects every item of a failed batch with its error, and processes later ones', async () => {
    let isBroken = true
    const batcher = createBatcher<Item, Result>({
      ...LIMITS,
      isAlike,
      processAlone: async (group) => {
        if (isBroken) throw new Error('broken')
        return answers(group)
      },
    })
    const failing = ['a', 'b'].map((key) => batcher.add(key, { name: key }))
    const notified = await Promise.allSettled(failing)
    expect(notified.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect(await batcher.add('a', { name: 'again' })).toEqual({ of: 'again' })
  })

  test('gives each item its own result, in the order of its key', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      kind: fc.constantFrom('x', 'y'),
      pause: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const inHand = new Set<string>()
        const done: Item[] = []
        const work = async (group: BatchGroup<Item>) => {
          const key = group[0].name.slice(0, 1)
          expect(inHand.has(key)).toBe(false)
          inHand.add(key)
          await turn()
          done.push(...group)
          inHand.delete(key)
          return answers(group)
        }
        const batcher = createBatcher<Item, Result>({
          ...LIMITS,
          batchesAtOnce: 2,
          waitingPerKeyMax: 100,
          itemsMax: 100,
          isAlike,
          processTogether: (groups) =>
            Promise.all(
              groups.map(async (group) => (group.length === 3 ? undefined : work(group))),
            ),
          processAlone: work,
        })
        const results: (Promise<Result> | undefined)[] = []
        for (const [index, { key, kind, pause }] of steps.entries()) {
          results.push(batcher.add(key, { name: `${key}${index}`, kind }))
          if (pause) await turn()
        }
        expect(await Promise.all(results)).toEqual(
          steps.map(({ key }, index) => ({ of: `${key}${index}` })),
        )
        await batcher.idle()
        const orders = Map.groupBy(done, ({ name, kind }) => `${name.slice(0, 1)}${kind}`)
        for (const own of orders.values()) {
          const numbers = own.map(({ name }) => Number(name.slice(1)))
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        }
      }),
      { numRuns: runs(50) },
    )
  })
})
