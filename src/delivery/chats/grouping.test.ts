import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import {
  GROUP_SECONDS,
  type IncidentMessage,
  MESSAGES_PER_MINUTE,
  planNext,
  RECENT_SECONDS,
  type RecentMessage,
  type RecipientSituation,
  type WaitingDelivery,
} from './grouping.ts'

const NOON = Date.UTC(2026, 10, 20, 12)
const at = (seconds: number) => new Date(NOON + seconds * 1000)

function waiting(over: Partial<WaitingDelivery> & { readonly id: string }): WaitingDelivery {
  return {
    orderKey: over.id,
    watchId: 1,
    incidentId: null,
    urgency: 1,
    kind: 'alert',
    recovery: false,
    test: false,
    answers: null,
    createdAt: at(0),
    dueAt: at(0),
    taken: 'free',
    ...over,
  }
}

function recent(over: Partial<RecentMessage> & { readonly id: string }): RecentMessage {
  return {
    watchId: 1,
    kind: 'alert',
    recovery: false,
    loud: true,
    parts: 1,
    openedAt: at(0),
    sentAt: at(0),
    open: true,
    busy: false,
    orderKeys: new Set(),
    ...over,
  }
}

/** The messages of incidents, each with the given one. */
function incidentsOf(
  over: Partial<IncidentMessage>,
  ids: readonly number[] = [7],
): ReadonlyMap<number, IncidentMessage> {
  const message: IncidentMessage = {
    ...{ id: 'g', loud: true, parts: 1, openedAt: at(0), open: true, busy: false },
    ...{ over: false, taken: false, urgency: 1, orderKeys: new Set<string>(), ...over },
  }
  return new Map(ids.map((id) => [id, message]))
}

function situation(over: Partial<RecipientSituation>): RecipientSituation {
  return {
    waiting: [],
    recent: [],
    incidents: new Map(),
    canEdit: true,
    followsIncident: false,
    now: at(1),
    ...over,
  }
}

const full = Array.from({ length: MESSAGES_PER_MINUTE }, (_, index) =>
  recent({ id: `m${index}`, watchId: 100 + index }),
)

describe('a channel whose messages follow their incidents', () => {
  const plan = (over: Partial<RecipientSituation>) =>
    planNext(situation({ followsIncident: true, ...over })).next
  const of = (id: string, over: Partial<WaitingDelivery> = {}) =>
    waiting({ id, incidentId: 7, createdAt: at(60), ...over })
  const joined = { how: 'join', form: 'group', messageId: 'g', rings: false } as const

  test('has the alerts of an incident in one message, which later ones join at any time and in any number', () => {
    const all = ['a', 'b', 'c'].map((id) => of(id))
    expect(plan({ waiting: all })).toEqual({ how: 'send', form: 'group', ids: ['a', 'b', 'c'] })
    for (const parts of [3, 50, 500]) {
      const incidents = incidentsOf({ parts })
      expect(plan({ waiting: [of('d')], incidents })).toEqual({ ...joined, ids: ['d'] })
    }
  })

  test('rings for a higher severity, and for news of an incident that somebody has taken', () => {
    const rise = [of('d', { urgency: 2, kind: 'raised' })]
    const incidents = incidentsOf({})
    expect(plan({ waiting: rise, incidents })).toMatchObject({ how: 'join', rings: true })
    const worst = incidentsOf({ urgency: 2 })
    expect(plan({ waiting: rise, incidents: worst })).toMatchObject({ how: 'join', rings: false })
    const taken = incidentsOf({ taken: true })
    expect(plan({ waiting: [of('e')], incidents: taken })).toMatchObject({ rings: true })
    const end = [of('f', { recovery: true, urgency: 2 })]
    expect(plan({ waiting: end, incidents: taken })).toMatchObject({ rings: false })
  })

  test('has each incident in a message of its own, and no roll-up', () => {
    const all = [of('a'), of('b', { incidentId: 8 })]
    expect(plan({ waiting: all, recent: full })).toEqual({ how: 'send', form: 'alone', ids: ['a'] })
  })

  test('has recoveries in the message of their incident too, whether it is over or not', () => {
    const all = [of('a', { recovery: true }), of('b'), of('c', { recovery: true, incidentId: 8 })]
    for (const over of [false, true]) {
      const incidents = incidentsOf({ over })
      expect(plan({ waiting: all, incidents })).toEqual({ ...joined, ids: ['a', 'b'] })
    }
  })

  test('sends alerts before recoveries where the incident has no message, and recoveries alone if nothing else waits', () => {
    const all = [of('a', { recovery: true }), of('b'), of('c', { recovery: true })]
    expect(plan({ waiting: all })).toEqual({ how: 'send', form: 'alone', ids: ['b'] })
    const ends = all.filter(({ recovery }) => recovery)
    expect(plan({ waiting: ends })).toEqual({ how: 'send', form: 'group', ids: ['a', 'c'] })
  })

  test('waits while the first message of the incident is being sent, or its message is changed', () => {
    expect(plan({ waiting: [of('a', { taken: 'now' }), of('b')] })).toBeUndefined()
    const incidents = incidentsOf({ open: false, busy: true })
    expect(plan({ waiting: [of('b')], incidents })).toBeUndefined()
  })
})

test('an incident whose message cannot be changed any more has a separate message for each recovery', () => {
  const ends = [waiting({ id: 'a', recovery: true, incidentId: 7 })]
  const next = planNext(
    situation({ waiting: ends, incidents: incidentsOf({ over: false, open: false }) }),
  ).next
  expect(next).toEqual({ how: 'send', form: 'alone', ids: ['a'] })
})

describe('what happens to an incident with a message in a chat', () => {
  const later = (over: Partial<WaitingDelivery> = {}) =>
    waiting({ id: 'n', incidentId: 7, createdAt: at(60), dueAt: at(60), ...over })
  const plan = (delivery: WaitingDelivery, over: Partial<IncidentMessage> = {}) =>
    planNext(situation({ waiting: [delivery], incidents: incidentsOf(over), now: at(61) })).next

  test('rings in a new message that replaces it: a further alert, and a higher severity', () => {
    const replaced = { how: 'send', form: 'group', ids: ['n'], replaces: 'g' }
    expect(plan(later())).toEqual(replaced)
    expect(plan(later({ kind: 'raised', urgency: 2 }))).toEqual(replaced)
  })

  test('joins it without a sound if it needs none, or if it rang a moment ago for another signal', () => {
    const joined = { how: 'join', form: 'group', ids: ['n'], messageId: 'g' }
    expect(plan(later({ urgency: 0 }))).toEqual(joined)
    const soon = later({ createdAt: at(GROUP_SECONDS) })
    expect(plan(soon)).toEqual(joined)
    expect(plan(soon, { orderKeys: new Set(['n']) })).toMatchObject({ replaces: 'g' })
    expect(plan(soon, { loud: false })).toMatchObject({ replaces: 'g' })
  })

  test('waits while a worker changes it, and is sent alone where it is gone or full', () => {
    expect(plan(later(), { open: false, busy: true })).toBeUndefined()
    expect(plan(later(), { open: false })).toEqual({ how: 'send', form: 'alone', ids: ['n'] })
    expect(plan(later(), { parts: 50 })).toEqual({ how: 'send', form: 'alone', ids: ['n'] })
  })
})

describe('the next message of a group', () => {
  test('an alert without a recent message of its watch is sent at once and alone', () => {
    expect(planNext(situation({ waiting: [waiting({ id: 'a' })] })).next).toEqual({
      how: 'send',
      form: 'alone',
      ids: ['a'],
    })
  })

  test('waiting alerts of one watch, written within five seconds, are sent in one message, in order', () => {
    const all = [
      waiting({ id: 'a' }),
      waiting({ id: 'b', watchId: 2 }),
      waiting({ id: 'c', createdAt: at(5) }),
      waiting({ id: 'd', createdAt: at(5.001) }),
    ]
    expect(planNext(situation({ waiting: all, now: at(9) })).next).toEqual({
      how: 'send',
      form: 'group',
      ids: ['a', 'c'],
    })
  })

  test('alerts within five seconds join the message of their watch', () => {
    const all = [waiting({ id: 'b', createdAt: at(5) })]
    const next = (created: WaitingDelivery[]) =>
      planNext(situation({ waiting: created, recent: [recent({ id: 'a' })], now: at(8) })).next
    expect(next(all)).toEqual({ how: 'join', form: 'group', ids: ['b'], messageId: 'a' })
    expect(next([waiting({ id: 'b', createdAt: at(5.001) })])).toMatchObject({ how: 'send' })
    expect(next([waiting({ id: 'b', watchId: 2 })])).toMatchObject({ how: 'send' })
  })

  test('where messages cannot be changed, followers wait for the end of the five seconds', () => {
    const all = [waiting({ id: 'b', createdAt: at(1) }), waiting({ id: 'c', createdAt: at(2) })]
    const values = { waiting: all, recent: [recent({ id: 'a' })], canEdit: false }
    expect(planNext(situation({ ...values, now: at(2) }))).toEqual({
      postponed: [{ ids: ['b', 'c'], until: at(5) }],
      blocked: [],
    })
    expect(planNext(situation({ ...values, now: at(5) })).next).toEqual({
      how: 'send',
      form: 'group',
      ids: ['b', 'c'],
    })
  })

  test('an alert with sound is a new message if the sent message has an alert of its signal', () => {
    const again = waiting({ id: 'b', orderKey: 'k', createdAt: at(1) })
    const others = [waiting({ id: 'c', createdAt: at(2) }), waiting({ id: 'd', createdAt: at(2) })]
    const before = recent({ id: 'a', orderKeys: new Set(['k']) })
    const plan = (all: WaitingDelivery[], over: Partial<RecipientSituation> = {}) =>
      planNext(situation({ waiting: all, recent: [before], now: at(3), ...over })).next
    expect(plan([again])).toEqual({ how: 'send', form: 'alone', ids: ['b'] })
    // Alerts of other signals of the watch join.
    expect(plan(others)).toMatchObject({ how: 'join', ids: ['c', 'd'], messageId: 'a' })
    // An alert without sound joins.
    expect(plan([{ ...again, urgency: 0 }])).toMatchObject({ how: 'join', ids: ['b'] })
    // E-mails cannot be changed: the alert waits for the next one, until the five seconds are over.
    expect(plan([again], { canEdit: false })).toBeUndefined()
    // The seventh message in a minute is a roll-up.
    expect(plan([again], { recent: [before, ...full.slice(1)] })).toMatchObject({ form: 'rollup' })
  })

  test('an alert with sound does not join a silent message', () => {
    const quiet = recent({ id: 'a', loud: false })
    const loud = waiting({ id: 'b', createdAt: at(1), urgency: 2 })
    const next = planNext(situation({ waiting: [loud], recent: [quiet] })).next
    expect(next).toEqual({ how: 'send', form: 'alone', ids: ['b'] })
  })

  test('the seventh message of a minute starts a roll-up, which later alerts join', () => {
    const all = [waiting({ id: 'x' }), waiting({ id: 'y', watchId: 2, kind: 'raised' })]
    const first = planNext(situation({ waiting: all, recent: full.slice(1) }))
    expect(first.next).toMatchObject({ how: 'send', form: 'alone' })
    const seventh = planNext(situation({ waiting: all, recent: full }))
    expect(seventh.next).toEqual({ how: 'send', form: 'rollup', ids: ['x', 'y'] })
    const rollup = recent({ id: 'r', kind: 'rollup', watchId: null })
    const later = planNext(situation({ waiting: all, recent: [rollup, ...full] }))
    expect(later.next).toEqual({ how: 'join', form: 'rollup', ids: ['x', 'y'], messageId: 'r' })
  })

  test('a roll-up that cannot be changed is followed by the next one when the minute is over', () => {
    const fixed = recent({ id: 'r', kind: 'rollup', watchId: null, open: false })
    const values = { waiting: [waiting({ id: 'x' })], recent: [fixed, ...full] }
    expect(planNext(situation(values)).next).toBeUndefined()
    const later = planNext(situation({ ...values, recent: [fixed], now: at(RECENT_SECONDS) }))
    expect(later.next).toMatchObject({ how: 'send', form: 'alone', ids: ['x'] })
  })

  test('notices, tests and reminders are sent alone even after six messages in a minute', () => {
    for (const over of [{ kind: 'notice' }, { kind: 'reminder' }, { test: true }] as const) {
      const next = planNext(
        situation({ waiting: [waiting({ id: 'x', ...over })], recent: full }),
      ).next
      expect(next).toEqual({ how: 'send', form: 'alone', ids: ['x'] })
    }
  })

  test('severity increases of a watch are sent together, and so are reminders; neither joins an earlier message', () => {
    for (const kind of ['raised', 'reminder'] as const) {
      const own = ['a', 'b'].map((id) => waiting({ id, kind, urgency: 2 }))
      const others = [
        waiting({ id: 'c', kind, watchId: 2 }),
        waiting({ id: 'd', kind: 'alert', urgency: 0, watchId: 1 }),
        waiting({ id: 'e', kind, createdAt: at(GROUP_SECONDS + 1) }),
      ]
      const notified = recent({ id: 'm', openedAt: at(0) })
      const next = planNext(situation({ waiting: [...own, ...others], recent: [notified] })).next
      expect(next).toEqual({ how: 'send', form: 'group', ids: ['a', 'b'] })
    }
  })

  test('critical deliveries overtake others, but none of their own order key', () => {
    const all = [
      waiting({ id: 'info', urgency: 0, watchId: 1 }),
      waiting({ id: 'first', urgency: 0, watchId: 2, orderKey: 'k' }),
      waiting({ id: 'worse', urgency: 2, watchId: 3, orderKey: 'k' }),
      waiting({ id: 'critical', urgency: 2, watchId: 4 }),
    ]
    expect(planNext(situation({ waiting: all }))).toMatchObject({
      next: { ids: ['critical'] },
      blocked: ['worse'],
    })
  })

  test('a recovery updates its line in the group, and one message is sent when all have recovered', () => {
    const delivery = waiting({ id: 'r', recovery: true, urgency: 0, incidentId: 7 })
    const next = (over: boolean, busy = false) =>
      planNext(
        situation({
          waiting: [delivery],
          incidents: incidentsOf({ over, open: !busy, busy }),
        }),
      ).next
    expect(next(false)).toEqual({ how: 'join', form: 'group', ids: ['r'], messageId: 'g' })
    expect(next(true)).toEqual({ how: 'send', form: 'alone', ids: ['r'], ends: 'g' })
    expect(next(true, true)).toMatchObject({ how: 'send', ends: 'g' })
    // While a worker changes the message, the recovery waits.
    expect(next(false, true)).toBeUndefined()
  })

  test('nothing is planned while another worker has just claimed a delivery of the recipient', () => {
    const all = [waiting({ id: 'a', taken: 'now' }), waiting({ id: 'b' })]
    expect(planNext(situation({ waiting: all })).next).toBeUndefined()
    const long = [waiting({ id: 'a', taken: 'later' }), waiting({ id: 'b' })]
    expect(planNext(situation({ waiting: long })).next).toMatchObject({ ids: ['b'] })
  })
})

const seconds = fc.integer({ min: 0, max: 120 })
const anyWaiting = fc
  .array(
    fc.record({
      key: fc.integer({ min: 0, max: 4 }),
      watchId: fc.constantFrom(1, 2, null),
      incidentId: fc.constantFrom(null, 7, 8),
      urgency: fc.integer({ min: 0, max: 2 }),
      kind: fc.constantFrom('alert', 'alert', 'alert', 'raised', 'reminder', 'notice'),
      recovery: fc.boolean(),
      createdAt: fc.integer({ min: 0, max: 12 }).map(at),
      dueAt: fc.constantFrom(null, at(0), at(1)),
      taken: fc.constantFrom('free', 'free', 'free', 'later', 'now'),
    } as const),
    { maxLength: 20 },
  )
  .map((all) =>
    all.map(({ key, ...delivery }, index) =>
      waiting({ ...delivery, id: `d${index}`, orderKey: `${delivery.watchId} ${key}` }),
    ),
  )
const anyRecent = fc
  .array(
    fc.record({
      watchId: fc.constantFrom(1, 2, null),
      kind: fc.constantFrom('alert', 'group', 'rollup', 'notice'),
      recovery: fc.boolean(),
      loud: fc.boolean(),
      openedAt: fc.integer({ min: 0, max: 12 }).map(at),
      sentAt: fc.integer({ min: 0, max: 12 }).map(at),
      open: fc.boolean(),
      busy: fc.boolean(),
      orderKeys: fc
        .subarray(['1 0', '1 1', '1 2', '2 0', '2 1'])
        .map((keys): ReadonlySet<string> => new Set(keys)),
    } as const),
    { maxLength: 9 },
  )
  .map((all) =>
    all
      .map((message, index) =>
        recent({ ...message, id: `m${index}`, open: message.open && !message.busy }),
      )
      .sort((a, b) => b.sentAt.getTime() - a.sentAt.getTime()),
  )
const anyIncidents = fc
  .record({
    loud: fc.boolean(),
    parts: fc.constantFrom(1, 3, 50),
    openedAt: fc.integer({ min: 0, max: 12 }).map(at),
    open: fc.boolean(),
    over: fc.boolean(),
    taken: fc.boolean(),
    urgency: fc.integer({ min: 0, max: 2 }),
    orderKeys: fc.subarray(['1 0', '1 1', '2 0']).map((keys) => new Set(keys)),
    ids: fc.subarray([7, 8]),
  })
  .map(({ ids, ...message }) => incidentsOf(message, ids))
const anySituation = fc
  .record({
    waiting: anyWaiting,
    recent: anyRecent,
    canEdit: fc.boolean(),
    followsIncident: fc.boolean(),
    incidents: anyIncidents,
  })
  // A message that follows its incident is changed.
  .map((values) =>
    situation({ ...values, canEdit: values.canEdit || values.followsIncident, now: at(13) }),
  )

/** Whether a message is that of an incident, or takes its place. */
function isOfIncident(next: NonNullable<ReturnType<typeof planNext>['next']>): boolean {
  if (next.how === 'join') return next.messageId === 'g'
  return next.how === 'send' && (next.replaces ?? next.ends) !== undefined
}

describe('for any waiting deliveries', () => {
  test('what belongs to an incident joins or replaces its message, with sound only by a new one', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const { next } = planNext(situation)
        if (next === undefined || !isOfIncident(next)) return
        const parts = situation.waiting.filter(({ id }) => next.ids.includes(id))
        const [message] = situation.incidents.values()
        expect(situation.canEdit).toBe(true)
        for (const { incidentId } of parts)
          expect([...situation.incidents.keys()]).toContain(incidentId)
        if (next.how === 'join') expect(message?.open).toBe(true)
        if (!situation.followsIncident)
          expect(new Set(parts.map(({ recovery }) => recovery)).size).toBe(1)
        if (next.how !== 'join' || parts[0]?.recovery || situation.followsIncident) return
        for (const { urgency, orderKey } of parts) {
          expect(urgency === 0 || (message?.loud && !message.orderKeys.has(orderKey))).toBe(true)
        }
      }),
    )
  })

  test('no delivery overtakes one of its order key, and only unclaimed ones are sent, once', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const ids = planNext(situation).next?.ids ?? []
        expect(new Set(ids).size).toBe(ids.length)
        const going = situation.waiting.filter(({ id }) => ids.includes(id))
        expect(going.map(({ id }) => id)).toEqual(ids)
        for (const delivery of going) {
          expect(delivery.taken).toBe('free')
          const before = situation.waiting.slice(0, situation.waiting.indexOf(delivery))
          const earlier = before.filter(({ orderKey }) => orderKey === delivery.orderKey)
          expect(ids).toEqual(expect.arrayContaining(earlier.map(({ id }) => id)))
        }
      }),
    )
  })

  test('a group has deliveries of one incident where it follows that, else of one watch and kind, within five seconds', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const { next } = planNext(situation)
        if (next === undefined || next.form !== 'group') return
        if (isOfIncident(next)) return
        const parts = situation.waiting.filter(({ id }) => next.ids.includes(id))
        const isNews = parts[0]?.kind === 'alert' || parts[0]?.kind === 'raised'
        if (situation.followsIncident && isNews && parts[0]?.incidentId !== null) {
          expect(new Set(parts.map(({ incidentId }) => incidentId)).size).toBe(1)
          return
        }
        expect(new Set(parts.map(({ watchId }) => watchId)).size).toBe(1)
        expect(new Set(parts.map(({ recovery }) => recovery)).size).toBe(1)
        expect(new Set(parts.map(({ kind }) => kind)).size).toBe(1)
        expect(['alert', 'raised', 'reminder']).toContain(parts[0]?.kind)
        if (next.how === 'join') expect(parts[0]?.kind).toBe('alert')
        const opened =
          next.how === 'join'
            ? situation.recent
                .filter(({ id }) => id === next.messageId)
                .map((message) => message.openedAt)
            : []
        const times = [...opened, ...parts.map(({ createdAt }) => createdAt)].map(Number)
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(GROUP_SECONDS * 1000)
      }),
    )
  })

  test('deliveries join open messages only; with sound, none joins a silent message or a group with its signal', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const { next } = planNext(situation)
        if (next?.how !== 'join' || isOfIncident(next)) return
        const message = situation.recent.find(({ id }) => id === next.messageId)
        expect(situation.canEdit && message?.open).toBe(true)
        const urgencies = situation.waiting.flatMap(({ id, urgency }) =>
          next.ids.includes(id) ? [urgency] : [],
        )
        if (message?.loud === false) expect(Math.max(...urgencies)).toBe(0)
        const again = situation.waiting.filter(
          ({ id, orderKey }) => next.ids.includes(id) && message?.orderKeys.has(orderKey),
        )
        if (next.form === 'group') expect(again.filter(({ urgency }) => urgency > 0)).toEqual([])
      }),
    )
  })

  test('after six messages in a minute, new messages are roll-ups, reminders or notices', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        fc.pre(situation.recent.length >= MESSAGES_PER_MINUTE)
        const { next } = planNext({ ...situation, followsIncident: false, incidents: new Map() })
        if (next?.how !== 'send' || next.form === 'rollup') return
        const lead = situation.waiting.find(({ id }) => id === next.ids[0])
        expect(['reminder', 'notice']).toContain(lead?.kind)
      }),
    )
  })

  test('every delivery is sent once, in the order of its key, with at most eight messages in a minute', () => {
    const arrival = fc.record({
      second: seconds,
      watchId: fc.integer({ min: 1, max: 3 }),
      signal: fc.integer({ min: 1, max: 2 }),
      urgency: fc.integer({ min: 0, max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), fc.boolean(), (arrivals, canEdit) => {
        const { notified, sentAt } = run(arrivals, canEdit)
        expect(notified.map(({ id }) => id).sort()).toEqual(arrivals.map((_, i) => `d${i}`).sort())
        for (const ofKey of Map.groupBy(notified, ({ orderKey }) => orderKey).values()) {
          const created = ofKey.map(({ createdAt }) => createdAt.getTime())
          expect(created).toEqual(created.toSorted((a, b) => a - b))
        }
        for (const start of sentAt) {
          const within = sentAt.filter((sent) => sent >= start && sent < start + RECENT_SECONDS)
          // Six messages, a roll-up, and a second roll-up for alerts with sound if the first was sent without.
          expect(within.length).toBeLessThanOrEqual(MESSAGES_PER_MINUTE + 2)
        }
      }),
      { numRuns: runs(60) },
    )
  })
})

/** Plans the messages of a chat once a second for 400 seconds, and treats each planned message as sent. */
function run(
  arrivals: readonly {
    readonly second: number
    readonly watchId: number
    readonly signal: number
    readonly urgency: number
  }[],
  canEdit: boolean,
) {
  const all = arrivals
    .map((arrival, index) =>
      waiting({
        id: `d${index}`,
        orderKey: `${arrival.watchId} ${arrival.signal}`,
        watchId: arrival.watchId,
        urgency: arrival.urgency,
        createdAt: at(arrival.second),
        dueAt: at(arrival.second),
      }),
    )
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  const notified: WaitingDelivery[] = []
  const sentAt: number[] = []
  let messages: RecentMessage[] = []
  for (let second = 0; second < 400 && notified.length < all.length; second += 1) {
    const now = at(second)
    const open = all.filter((delivery) => delivery.createdAt <= now && !notified.includes(delivery))
    const recents = messages.filter((message) => message.sentAt > at(second - RECENT_SECONDS))
    const { next } = planNext(situation({ waiting: open, recent: recents, canEdit, now }))
    if (next === undefined) continue
    const parts = open.filter(({ id }) => next.ids.includes(id))
    notified.push(...parts)
    if (next.how === 'join') {
      messages = messages.map((message) =>
        message.id === next.messageId
          ? {
              ...message,
              kind: next.form,
              parts: message.parts + parts.length,
              orderKeys: new Set([...message.orderKeys, ...parts.map(({ orderKey }) => orderKey)]),
            }
          : message,
      )
      continue
    }
    sentAt.push(second)
    const [first] = parts
    messages.unshift(
      recent({
        id: `m${second}`,
        kind: next.form === 'alone' ? 'alert' : next.form,
        watchId: next.form === 'rollup' ? null : (first?.watchId ?? null),
        loud: parts.some(({ urgency }) => urgency > 0),
        parts: parts.length,
        openedAt: first?.createdAt ?? now,
        sentAt: now,
        orderKeys: new Set(parts.map(({ orderKey }) => orderKey)),
      }),
    )
  }
  return { notified, sentAt }
}
