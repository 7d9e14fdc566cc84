import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Caller } from '#src/kernel/caller.ts'
import { blockChat, listChatLinks, unblockChat, unlinkChat } from '#src/recipients/chats.ts'
import { claimTelegramLink, createTelegramLink } from '#src/recipients/telegram-link.ts'
import { waitUntil } from '../bench/wait-until.ts'
import { runs } from '../support/runs.ts'
import { openRoom, type Room, stranger } from './room.ts'

let room: Room
let chatId = -1000
beforeAll(async () => {
  room = await openRoom()
})
beforeEach(() => {
  chatId -= 1
})
afterAll(() => room.close())

const now = () => room.clock.now()
const statuses = async () =>
  (await listChatLinks(room.deps, chatId)).map(({ status, statusReason }) => [status, statusReason])

/** Links the group to new wallets. */
async function linkGroup(wallets: number): Promise<readonly Caller[]> {
  const callers = Array.from({ length: wallets }, stranger)
  for (const caller of callers) {
    const { groupUrl } = await createTelegramLink(room.deps, caller, {})
    await claimTelegramLink(room.deps, {
      code: new URL(groupUrl).searchParams.get('startgroup') ?? '',
      chat: { id: chatId, title: 'Crew' },
      by: { id: 77 },
      locale: 'en',
    })
  }
  return callers
}

test('a group that removes the bot while its right to write comes back is not active and removed', async () => {
  await linkGroup(1)
  await blockChat(room.deps, chatId, now(), 'no_rights')
  const [changed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const returning = room.db.transaction(async (tx) => {
    await unblockChat(tx, chatId, now())
    changed.resolve()
    await commit.promise
  })
  await changed.promise
  const removing = blockChat(room.deps, chatId, now())
  await waitUntil('the removal waits for the row', async () => {
    const waiting = await room.db.execute(sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    return waiting.length > 0
  })
  commit.resolve()
  await Promise.all([returning, removing])
  expect(await statuses()).toEqual([['active', null]])
})

test('a group that changes in four ways at once keeps a reason exactly while it is off', async () => {
  for (let round = 0; round < runs(20); round += 1) {
    chatId -= 1
    const [gone] = await linkGroup(3)
    await blockChat(room.deps, chatId, now(), 'no_rights')
    await Promise.all([
      blockChat(room.deps, chatId, now()),
      unblockChat(room.db, chatId, now()),
      blockChat(room.deps, chatId, now(), 'topic_closed'),
      unlinkChat(room.deps, { chatId, ...(gone && { wallet: gone.wallet }) }),
    ])
    const left = await statuses()
    expect(left).toHaveLength(2)
    for (const [status, reason] of left)
      expect([
        ['active', null],
        ['blocked', 'kicked'],
        ['blocked', 'topic_closed'],
        ['blocked', 'no_rights'],
      ]).toContainEqual([status, reason])
  }
})
