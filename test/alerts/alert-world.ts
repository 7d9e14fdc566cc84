import { messageStates } from '#src/alerts/messages/message-state.ts'
import { sendThrottleSummaries } from '#src/alerts/notify/budget.ts'
import { escalateAndRemind } from '#src/alerts/reminders/reminders.ts'
import { recordAlerts } from '#src/alerts/service.ts'
import { sendSummaries } from '#src/alerts/summaries/summaries.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { StoredState } from '#src/watches/model.ts'
import { saveStates } from '#src/watches/state-store.ts'
import type { AlertList, Settings } from '../generated/api.ts'
import { candidatesOf, type RecordedEvent } from '../support/alert-candidates.ts'
import { giveCredits } from '../support/credits.ts'
import { confirmMailbox, linkChat } from '../support/destinations.ts'
import { harness } from '../support/harness.ts'
import { signIn } from '../support/people.ts'

/** A wallet with a chat, a mailbox and a webhook, and watches whose signals a test fires. */
export async function alertWorld(log?: Logger) {
  const world = await harness({}, log)
  const { app, clock } = world
  const alice = await signIn(world, 'alice')
  const { body: terms } = await alice.request('GET', '/account/terms')
  await alice.request('POST', '/account/terms', { version: terms.currentVersion })
  await giveCredits(app, alice.caller.wallet, 100_000)
  await alice.request('POST', '/subscriptions', { quantity: 10, periods: 12 })
  await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
  await confirmMailbox(world)
  await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  const { chat } = await linkChat(world, alice)
  const signal = new AbortController().signal
  let position = 0

  /** Clears the messages that all recipients got so far. */
  const forgetMessages = () => {
    world.inbox.clear()
    world.receiver.clear()
    for (const { id } of world.telegram.messages(chat)) seen.add(id)
  }
  const seen = new Set<number>()
  forgetMessages()

  return {
    ...world,
    alice,
    chat,
    forgetMessages,
    watch: async (label: string): Promise<number> => {
      const input = { type: 'credits-balance', label, target: {}, settings: { limit: 1 } }
      return (await alice.request('POST', '/watches', input)).body.id
    },
    /** Records alerts of a watch, all of one observation, and saves the states of their signals, as the observer does. */
    record: async (watchId: number, ...all: readonly RecordedEvent[]): Promise<void> => {
      position += 1
      // Others may record before this one has its transaction.
      const observed = { position, firedAt: clock.now() }
      await app.db.transaction(async (tx) => {
        const candidates = await candidatesOf(tx, watchId, all, observed)
        await saveStates(
          tx,
          candidates.flatMap(({ signal: id, severity, isRecovery }) =>
            id === null
              ? []
              : [{ watchId, state: stateOf(id, severity, isRecovery, observed.firedAt) }],
          ),
        )
        await recordAlerts(app, tx, candidates)
      })
    },
    /**
     * Adds further alerts with their mails: copies of a watch's only alert of an event, each of a reward epoch of its
     * own, from 401 on.
     */
    copyAlert: async (of: { watchId: number; event: string }, count: number): Promise<void> => {
      await world.database.sql`
        with made as (
          insert into alerts
          select copy.* from alerts as one, generate_series(1, ${count}::int) as place,
            jsonb_populate_record(one, jsonb_build_object(
              'id', nextval(pg_get_serial_sequence('alerts', 'id')), 'position', one.position + place,
              'data', one.data || jsonb_build_object('rewardEpochId', 400 + place))) as copy
          where one.watch_id = ${of.watchId} and one.event = ${of.event}
          returning id, position
        )
        insert into delivery_queue
        select copy.* from made, alerts as one join delivery_queue as sent on sent.alert_id = one.id,
          json_populate_record(sent, json_build_object(
            'id', gen_random_uuid(), 'alert_id', made.id, 'position', made.position)) as copy
        where one.watch_id = ${of.watchId} and one.event = ${of.event} and sent.channel = 'email'`
    },
    remind: () => escalateAndRemind(app, signal),
    summarize: async () => {
      await sendSummaries(app, signal)
      await sendThrottleSummaries(app, signal)
    },
    /** Current texts of the messages in the chat since `forgetMessages`. */
    chatTexts: () =>
      world.telegram
        .messages(chat)
        .filter(({ id, from }) => from === world.telegram.bot.id && !seen.has(id))
        // Remove the characters that set the direction of text.
        .map(({ text = '' }) => text.replaceAll(/[\u2066-\u2069]/g, '')),
    subjects: () => world.inbox.mails.map(({ subject }) => subject),
    hooks: () => world.receiver.deliveries.map(({ json }) => (json as { event: string }).event),
    alerts: async (query = ''): Promise<AlertList['data']> =>
      (await alice.request<AlertList>('GET', `/alerts${query}`)).body.data,
    change: async (over: Partial<Settings>): Promise<void> => {
      const { body } = await alice.request<Settings>('GET', '/settings')
      const { version: _version, ...rest } = body
      const answer = await alice.request('PUT', '/settings', { ...rest, ...over })
      if (answer.status !== 200) throw new Error(`settings answered ${answer.text}`)
    },
    stateOf: async (id: number) => (await messageStates(app, [id])).get(id),
  }
}

function stateOf(signal: string, severity: Severity, isRecovery: boolean, at: Date): StoredState {
  return {
    signal,
    state: {},
    phase: isRecovery ? 'ok' : 'firing',
    since: at,
    streak: null,
    severity: isRecovery ? null : severity,
    lastEvidenceAt: at,
    lastFiredAt: at,
    changes: [],
    cooldownUntil: null,
  }
}

export type AlertWorld = Awaited<ReturnType<typeof alertWorld>>
