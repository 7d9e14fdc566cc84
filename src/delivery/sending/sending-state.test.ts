import { describe, expect, test } from 'vitest'
import { CHANNEL_KEYS, type Channels } from '#src/channels/index.ts'
import { createSendingState } from './sending-state.ts'

const limits = { capacity: 8, initialLimit: 2, limitMax: 4 }
const channels = Object.fromEntries(CHANNEL_KEYS.map((key) => [key, { key, limits }]))

describe('wake', () => {
  test('ends the pause of the named channel and of no other', async () => {
    const { asleep, wake } = pausing()
    wake('webhook')
    await expect.poll(asleep).toEqual(CHANNEL_KEYS.filter((key) => key !== 'webhook'))
  })

  test.each(['', 'no channel of ours'])('ends all pauses for “%s”', async (name) => {
    const { asleep, wake } = pausing()
    wake(name)
    await expect.poll(asleep).toEqual([])
  })

  test('is remembered by a worker that claims meanwhile', async () => {
    const sending = createSendingState(channels as unknown as Channels)
    const { waker } = sending.of('webhook')
    waker.reset()
    sending.wake('webhook')
    await waker.sleep(3_600_000, new AbortController().signal)
  })
})

/** A state all of whose workers pause for an hour. */
function pausing() {
  const sending = createSendingState(channels as unknown as Channels)
  const asleep = new Set(CHANNEL_KEYS)
  for (const key of CHANNEL_KEYS) {
    const end = () => asleep.delete(key)
    sending.of(key).waker.sleep(3_600_000, new AbortController().signal).then(end, end)
  }
  return { asleep: () => [...asleep], wake: sending.wake }
}
