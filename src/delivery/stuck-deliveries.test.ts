import { expect, test } from 'vitest'
import { CHANNEL_KEYS, type Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { DueDelivery } from './due-store.ts'
import { createSendingState } from './sending-state.ts'
import { moveStuckToBacklog } from './stuck-deliveries.ts'

const limits = { capacity: 8, initialLimit: 2, limitMax: 4 }
const channels = Object.fromEntries(CHANNEL_KEYS.map((key) => [key, { key, limits }]))
const front = Array.from({ length: 256 }, (_, number): DueDelivery => {
  const place = { urgency: 1, firedAt: new Date(number), position: 0, backlog: false }
  return {
    id: `id ${number}`,
    recipientId: number,
    partitionKey: `host ${number}`,
    orderKey: `key ${number}`,
    ...place,
  }
})

test('a look at a long queue that fails each time fails one claim, not the next one, too', async () => {
  const db = { execute: () => Promise.reject(new Error('statement timeout')) } as unknown as Db
  const sending = createSendingState(channels as unknown as Channels).of('webhook')
  const claim = {
    crowded: [1],
    selection: { selected: front, behind: [], withoutPlace: [] },
    now: new Date(),
  }
  const claimOf = () => moveStuckToBacklog({ db, claimsDb: db }, 'webhook', sending, claim)
  await expect(claimOf()).rejects.toThrow('statement timeout')
  expect(await claimOf()).toBe(false)
})
