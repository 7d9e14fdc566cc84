import { expect, test } from 'vitest'
import { CHANNEL_KEYS, type Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { type Candidate, SCAN_MAX } from './due-store.ts'
import { createSending } from './sending.ts'
import { tidy } from './tidy.ts'

const limits = { room: 8, initialLimit: 2, limitMax: 4 }
const channels = Object.fromEntries(CHANNEL_KEYS.map((key) => [key, { key, limits }]))
const front = Array.from({ length: SCAN_MAX }, (_, number): Candidate => {
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
  const sending = createSending(channels as unknown as Channels).of('webhook')
  const claim = { front, chosen: { taken: front, behind: [], left: [] }, now: new Date() }
  const claimOf = () => tidy({ db, claimsDb: db }, 'webhook', sending, claim)
  await expect(claimOf()).rejects.toThrow('statement timeout')
  expect(await claimOf()).toBe(false)
})
