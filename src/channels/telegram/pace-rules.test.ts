import fc from 'fast-check'
import { expect, test } from 'vitest'
import { botFloodEnd, holdFor, NEVER_SENT, type Pace, takeTurn } from './pace-rules.ts'

const LIMITS = { allMs: 36, chatMs: 1000, groupWindow: { count: 20, ms: 60_000 } }
const GROUP = 3

/** Calls of several processes: chat, and delay since the previous call. */
const calls = fc.array(
  fc.record({
    chat: fc.nat(GROUP),
    afterMs: fc.nat(400),
    patienceMs: fc.constantFrom(0, 100, 5000),
  }),
  { minLength: 1, maxLength: 200 },
)

test('for any sequence of requests, the granted turns keep the intervals of the bot, of chats and of groups', () => {
  fc.assert(
    fc.property(calls, (asked) => {
      let now = 1_000_000
      let bot = NEVER_SENT
      const chats = new Map<number, Pace>()
      const sent: { chat: number; at: number }[] = []
      for (const { chat, afterMs, patienceMs } of asked) {
        now += afterMs
        const isGroup = chat === GROUP
        const known = { bot, chat: chats.get(chat) ?? NEVER_SENT }
        const turn = takeTurn(known, { now, patienceMs, isGroup }, LIMITS)
        if (!turn.isTaken) {
          expect(turn.waitMs).toBeGreaterThan(0)
          continue
        }
        bot = turn.bot
        chats.set(chat, turn.chat)
        expect(turn.waitMs).toBeLessThanOrEqual(patienceMs)
        sent.push({ chat, at: now + turn.waitMs })
      }
      expectApart(sent, LIMITS.allMs)
      for (const chat of chats.keys()) {
        const own = sent.filter((message) => message.chat === chat)
        expectApart(own, LIMITS.chatMs)
        if (chat !== GROUP) continue
        const { count, ms } = LIMITS.groupWindow
        for (const [index, { at }] of own.entries()) {
          const later = own[index + count]
          if (later !== undefined) expect(later.at - at).toBeGreaterThanOrEqual(ms)
        }
      }
    }),
  )
})

function expectApart(sent: readonly { readonly at: number }[], ms: number): void {
  for (const [index, { at }] of sent.entries()) {
    const before = sent[index - 1]
    if (before !== undefined) expect(at - before.at).toBeGreaterThanOrEqual(ms)
  }
}

test('a chat that is not ready holds up no other one', () => {
  const chat = { nextAt: 5000, sentAt: [], at: 1000 }
  const request = { now: 1000, patienceMs: 5000, isGroup: false }
  expect(takeTurn({ bot: NEVER_SENT, chat }, request, LIMITS)).toEqual({
    isTaken: false,
    waitMs: 4000,
  })
  expect(takeTurn({ bot: NEVER_SENT, chat: NEVER_SENT }, request, LIMITS)).toMatchObject({
    waitMs: 0,
  })
})

test('a bot that must wait refuses every caller beyond the wait limit', () => {
  const bot = holdFor(NEVER_SENT, 1000, 30_000)
  const request = { now: 1000, patienceMs: 5000, isGroup: false }
  expect(takeTurn({ bot, chat: NEVER_SENT }, request, LIMITS)).toEqual({
    isTaken: false,
    waitMs: 30_000,
  })
  expect(takeTurn({ bot, chat: undefined }, request, LIMITS).isTaken).toBe(false)
})

test('waits keep their length after the clock is set back', () => {
  const bot = holdFor(NEVER_SENT, 3_600_000, 200)
  const request = { now: 1000, patienceMs: 5000, isGroup: false }
  expect(
    takeTurn({ bot: { ...bot, at: 3_600_000 }, chat: NEVER_SENT }, request, LIMITS),
  ).toMatchObject({
    isTaken: true,
    waitMs: 200,
  })
})

test('when Telegram asks three chats to wait, the bot waits for the shortest of their waits', () => {
  expect(botFloodEnd([9000, 5000])).toBeUndefined()
  expect(botFloodEnd([9000, 5000, 7000])).toBe(5000)
})
