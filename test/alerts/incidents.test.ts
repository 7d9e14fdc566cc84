import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordAlerts } from '#src/alerts/service.ts'
import { candidatesOf } from '../support/alert-candidates.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

const COMMIT = 'fsp.ftso-commit'
const BITVOTE = 'fsp.fdc-bitvote'
const LOW = 'fsp.balance-low'
const MOVED = 'wallet-balance.moved'
const over = (event: string) => ({ event: `${event}.recovered` })

let world: AlertWorld
let watchId: number
let number = 0

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  if (watchId !== undefined) await world.alice.request('DELETE', `/watches/${watchId}`)
  number += 1
  watchId = await world.watch(`Node ${number}`)
  world.clock.advance(60)
})
afterAll(() => world.close())

/** The incidents of the watch, newest first. */
async function incidents(query = '') {
  const alerts = await world.alerts(`?group=incident&watchId=${watchId}${query}`)
  return alerts.map(({ incident }) => incident)
}
const numbersOf = async (query = '') =>
  (await world.alerts(`?watchId=${watchId}${query}`)).map(({ incidentId }) => incidentId)

describe('an incident', () => {
  test('has every alert and recovery of its watch and cause, and the next outage is the next incident', async () => {
    await world.record(watchId, { event: COMMIT })
    world.clock.advance(90)
    await world.record(watchId, { event: BITVOTE })
    world.clock.advance(90)
    await world.record(watchId, { event: COMMIT, severity: 'critical' })
    const [first] = await incidents()
    expect(first).toMatchObject({ severity: 'critical', state: 'firing', recoveredAt: null })
    world.clock.advance(90)
    await world.record(watchId, over(COMMIT), over(BITVOTE))
    const [ended] = await incidents()
    expect(ended).toMatchObject({ id: first?.id, state: 'recovered', durationSeconds: 270 })
    expect(ended?.alerts.map(({ event }) => event).toReversed()).toEqual([
      COMMIT,
      BITVOTE,
      COMMIT,
      over(COMMIT).event,
      over(BITVOTE).event,
    ])
    world.clock.advance(90)
    await world.record(watchId, { event: COMMIT })
    const [next] = await incidents()
    expect(next?.id).toBe((first?.id ?? 0) + 1)
    expect(next?.alerts).toHaveLength(1)
  })

  test('of another cause is another one, also at the same time', async () => {
    await world.record(watchId, { event: COMMIT }, { event: LOW })
    expect(new Set(await numbersOf()).size).toBe(2)
  })

  test('without a recovery has the alerts of one observation', async () => {
    await world.record(watchId, { event: MOVED })
    await world.record(watchId, { event: MOVED })
    const [second, first] = await numbersOf()
    expect(second).toBe((first ?? 0) + 1)
  })

  test('is selected by any of its alerts, and is in one state', async () => {
    await world.record(watchId, { event: COMMIT })
    await world.record(watchId, { event: BITVOTE, severity: 'critical' })
    expect(await incidents('&severity=critical')).toHaveLength(1)
    expect(await incidents(`&event=${BITVOTE}`)).toHaveLength(1)
    expect(await incidents('&severity=info')).toEqual([])
    await world.record(watchId, over(COMMIT))
    expect(await incidents('&state=recovered')).toEqual([])
    expect(await incidents('&state=firing')).toHaveLength(1)
    await world.record(watchId, over(BITVOTE))
    expect(await incidents('&state=firing')).toEqual([])
    expect(await incidents('&state=recovered')).toHaveLength(1)
  })

  test('stays in the list when its first alert is deleted', async () => {
    await world.record(watchId, { event: COMMIT })
    await world.record(watchId, { event: BITVOTE })
    const [before] = await incidents()
    const first = before?.alerts.at(-1)
    await world.alice.request('DELETE', `/alerts/${first?.id}`)
    const [after] = await incidents()
    expect(after?.id).toBe(before?.id)
    expect(after?.alerts.map(({ event }) => event)).toEqual([BITVOTE])
  })

  test('is on one page each, however the list is paged', async () => {
    for (let count = 0; count < 5; count += 1) {
      await world.record(watchId, { event: COMMIT }, { event: BITVOTE })
      world.clock.advance(90)
      await world.record(watchId, over(COMMIT), over(BITVOTE))
      world.clock.advance(90)
    }
    const all = (await incidents()).map((incident) => incident?.id)
    const paged: unknown[] = []
    let cursor = ''
    do {
      const path = `/alerts?group=incident&watchId=${watchId}&limit=2${cursor}`
      const { body } = await world.alice.request('GET', path)
      paged.push(...body.data.map(({ incidentId }: { incidentId: number }) => incidentId))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(all).toHaveLength(5)
    expect(paged).toEqual(all)
  })

  test('is named in webhooks, with the number that the API has', async () => {
    await world.deliver()
    world.forgetMessages()
    await world.record(watchId, { event: COMMIT })
    await world.record(watchId, over(COMMIT))
    await world.deliver()
    const [id] = await numbersOf()
    const bodies = world.receiver.deliveries.map(({ json }) => json)
    expect(bodies).toMatchObject([
      { renderedMessage: { incidentId: id } },
      { renderedMessage: { incidentId: id } },
    ])
  })
})

describe('alerts that are recorded at once', () => {
  test('of one watch are one incident, in either order', async () => {
    for (let round = 0; round < 6; round += 1) {
      await Promise.all([
        world.record(watchId, { event: COMMIT }),
        world.record(watchId, { event: BITVOTE }),
      ])
      expect(await incidents()).toHaveLength(round + 1)
      world.clock.advance(90)
      await world.record(watchId, over(COMMIT), over(BITVOTE))
      world.clock.advance(90)
    }
  })

  test('of many watches have numbers without a gap and without a repetition', async () => {
    const [last = 0] = await world.sql<{ last: number }[]>`select last from incident_numbers`.then(
      (rows) => rows.map((row) => row.last),
    )
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        world.record(watchId, index % 2 === 0 ? { event: MOVED } : { event: LOW }),
      ),
    )
    const numbers = [...new Set(await numbersOf())].toSorted((a, b) => a - b)
    expect(numbers[0]).toBe(last + 1)
    expect(numbers).toEqual(numbers.map((_, index) => last + 1 + index))
  })
})

test('a process that dies while it records leaves nothing, and the next one opens the incident', async () => {
  const died = world.app.db.transaction(async (tx) => {
    const observed = { position: 1_000_000, firedAt: world.clock.now() }
    const candidates = await candidatesOf(tx, watchId, [{ event: COMMIT }], observed)
    await recordAlerts(world.app, tx, candidates)
    // What the database sees of a process that gets SIGKILL before it commits.
    const [own] = await tx.execute<{ pid: number }>('select pg_backend_pid() as pid')
    await world.sql`select pg_terminate_backend(${own?.pid ?? 0})`
    await tx.execute('select 1')
  })
  const [, before] = await Promise.all([
    expect(died).rejects.toThrow(),
    world.sql<{ last: number }[]>`select last from incident_numbers`,
  ])
  expect(await incidents()).toEqual([])
  await world.record(watchId, { event: BITVOTE })
  const [id] = await numbersOf()
  expect(id).toBe((before[0]?.last ?? 0) + 1)
})
