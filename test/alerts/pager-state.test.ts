import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { readIncidentState } from '#src/alerts/incidents/incident.ts'
import { runs } from '../support/runs.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** PagerDuty has the state of each incident, whatever happens to its alerts and to the requests about them. */

const WATCHES = 8
/** Signals of a provider's duties, all of one cause; nothing ends the last one. */
const SIGNALS = ['ftso-commit', 'ftso-reveal', 'fdc-bitvote'] as const
/** Longer than the wait before a fifth attempt. */
const WAIT_SECONDS = 3 * 3600

let world: AlertWorld
let hooks: ChatHooks
/** Watches, each with a PagerDuty service of its own, so that they do not wait for each other's turns. */
const watches: { readonly id: number; readonly key: string; readonly recipientId: number }[] = []

beforeAll(async () => {
  ;[world, hooks] = await Promise.all([alertWorld(), startChatHooks()])
  for (let place = 1; place <= WATCHES; place += 1) {
    const url = hooks.pagerDutyUrl()
    const input = { name: `Pager ${place}`, channel: 'pagerduty', url, default: false }
    const recipient = await world.alice.request('POST', '/recipients', input)
    expect(recipient.status).toBe(201)
    const { id: recipientId } = recipient.body
    const id = await world.watch(`Provider ${place}`)
    const change = { recipientIds: [recipientId], ...(place % 2 === 0 && { minSeverity: 'info' }) }
    const changed = await world.alice.request('PATCH', `/watches/${id}`, change)
    expect(changed.status).toBe(200)
    // Some of the services hear of critical alerts only: the others of an incident count all the same.
    if (place % 2 === 0) {
      const body = { minSeverity: 'critical' }
      await world.alice.request('PATCH', `/recipients/${recipientId}`, body)
    }
    watches.push({ id, key: url.split('/').at(-2) ?? '', recipientId })
  }
})
afterAll(async () => {
  await hooks.close()
  await world.close()
})

const step = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...SIGNALS).map((signal) => ({ kind: 'open', signal })) },
  { weight: 3, arbitrary: fc.constantFrom(...SIGNALS).map((signal) => ({ kind: 'rise', signal })) },
  { weight: 4, arbitrary: fc.constantFrom(...SIGNALS).map((signal) => ({ kind: 'end', signal })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...SIGNALS).map((signal) => ({ kind: 'end quietly', signal })),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'take' }) },
  { weight: 3, arbitrary: fc.constantFrom('refuse', 'break').map((kind) => ({ kind })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose' }) },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 0, max: 700 }).map((seconds) => ({ kind: 'wait', seconds })),
  },
) as fc.Arbitrary<Step>
type Step =
  | { readonly kind: 'open' | 'rise' | 'end' | 'end quietly'; readonly signal: string }
  | { readonly kind: 'take' | 'refuse' | 'break' | 'lose' }
  | { readonly kind: 'wait'; readonly seconds: number }

/** Plays one step of one watch. */
async function play(of: (typeof watches)[number], taken: Step): Promise<void> {
  switch (taken.kind) {
    case 'open':
      return await world.record(of.id, { event: `fsp.${taken.signal}`, severity: 'warning' })
    case 'rise':
      return await world.record(of.id, { event: `fsp.${taken.signal}`, severity: 'critical' })
    case 'end':
      return await world.record(of.id, { event: `fsp.${taken.signal}.recovered` })
    case 'end quietly':
      return await world.record(of.id, {
        event: `fsp.${taken.signal}.recovered`,
        isNotified: false,
      })
    case 'take': {
      const [open] = await world.alerts(`?limit=1&watchId=${of.id}&state=firing`)
      if (open !== undefined) await world.alice.request('POST', `/alerts/${open.id}/acknowledge`)
      return
    }
    case 'refuse':
      return hooks.failNext({ status: 500 })
    case 'break':
      return hooks.failNext('reset')
    case 'lose':
      // The message is no longer known here, as if what is stored of it were dropped.
      await world.database.sql`
        update sent_messages set message_id = null, revise_at = null where recipient_id = ${of.recipientId}`
      return
    case 'wait':
      return world.clock.advance(taken.seconds)
    default:
      return taken satisfies never
  }
}

/** Alerts in PagerDuty about an incident that are not resolved. */
const openIn = (key: string, incidentId: number) =>
  hooks.messages.filter(
    ({ hook, id, action }) =>
      hook === key &&
      action !== 'resolve' &&
      new RegExp(`/incidents/${incidentId}(?:/2)?$`).test(id),
  )

async function incidentsOf(watchId: number, after: number): Promise<number[]> {
  const rows = await world.app.db.execute<{ incidentId: number }>(sql`
    select distinct incident_id as "incidentId" from alerts
    where watch_id = ${watchId} and incident_id > ${after} order by 1`)
  return rows.map(({ incidentId }) => incidentId)
}

test('PagerDuty shows each incident as it is, and never as resolved while a part of it fires', async () => {
  const wallet = world.alice.caller.wallet
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: WATCHES, maxLength: WATCHES }), {
        minLength: 3,
        maxLength: 6,
      }),
      async (rounds) => {
        hooks.clear()
        const [last] = await world.database.sql<{ last: number }[]>`
          select coalesce(max(incident_id), 0)::int as last from alerts where wallet = ${wallet}`
        const after = last?.last ?? 0
        const lost = new Set<number>()
        /** Incidents that PagerDuty was told of and that were open then. */
        const shown = new Set<string>()
        for (const round of rounds) {
          for (const [place, taken] of round.entries()) {
            const of = watches[place]
            if (of === undefined) continue
            if (taken.kind === 'lose') lost.add(of.id)
            await play(of, taken)
          }
          await world.deliver()
          for (const { id, key } of watches) {
            for (const incidentId of await incidentsOf(id, after)) {
              const name = `${key} ${incidentId}`
              if (openIn(key, incidentId).length > 0) shown.add(name)
              const { isOver } = await readIncidentState(world.app.db, { wallet, incidentId })
              // What was once told stays open until the incident is over.
              if (!isOver && shown.has(name)) expect(openIn(key, incidentId)).not.toEqual([])
            }
          }
        }
        // Retries come, and faults that nothing has met yet are met by them.
        for (let wait = 0; wait < 4; wait += 1) {
          world.clock.advance(WAIT_SECONDS)
          await world.deliver()
        }
        for (const { id, key } of watches) {
          for (const incidentId of await incidentsOf(id, after)) {
            const { isOver, isTaken } = await readIncidentState(world.app.db, {
              wallet,
              incidentId,
            })
            const open = openIn(key, incidentId)
            if (isOver) expect(open).toEqual([])
            else if (shown.has(`${key} ${incidentId}`)) expect(open).not.toEqual([])
            if (!isOver && open.length > 0 && !lost.has(id)) {
              expect(open.map(({ action }) => action)).toEqual([
                isTaken ? 'acknowledge' : 'trigger',
              ])
            }
          }
          // The next run begins with nothing open.
          await world.record(id, ...SIGNALS.map((signal) => ({ event: `fsp.${signal}.recovered` })))
        }
        await world.deliver()
        expect(hooks.messages.filter(({ action }) => action !== 'resolve')).toEqual([])
        expect(hooks.refused).toEqual([])
      },
    ),
    { numRuns: runs(3) },
  )
})
