import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import { transferHeading } from '#src/channels/transfer.ts'
import { DecodedEnvelope } from '#src/delivery/stored-envelope.ts'
import recorded from '../fixtures/recorded/envelopes.json' with { type: 'json' }
import { contextOf, WORLDS, type World } from './worlds.ts'

/** Envelopes that an earlier release stored, see `test/fixtures/recorded`. */
const STORED = recorded.envelopes.map((stored) => {
  const { kind = 'alert' } = stored as { kind?: string }
  const { isRecovery } = DecodedEnvelope.parse(stored).message
  return { name: `${kind} ${stored.message.event}`, kind, isRecovery, stored }
})

const PROGRAMS: ReadonlySet<string> = new Set(['webhook', 'pagerduty'])

describe.each(CHANNEL_KEYS)('%s', (key) => {
  let world: World

  beforeAll(async () => {
    world = await WORLDS[key]()
  })
  afterAll(() => world.close())

  const sent = STORED.filter(({ kind, isRecovery }) => {
    // PagerDuty has no message of a recovery: it resolves what the alert triggered.
    if (key === 'pagerduty' && isRecovery) return false
    // Programs get alerts only.
    return !PROGRAMS.has(key) || kind === 'alert' || kind === 'raised'
  })
  test.each(sent)('delivers a recorded $name', async ({ stored }) => {
    const before = world.arrived().count
    const envelope = DecodedEnvelope.parse(stored)
    await world.channel.send(world.destination(), envelope, contextOf())
    const { count, text } = world.arrived()
    expect(count).toBe(before + 1)
    const bare = (text: string) => text.replaceAll(/[\u2066-\u2069\u00a0\s\\]/g, '')
    const heading = key === 'webhook' ? undefined : transferHeading(envelope)
    expect(bare(text)).toContain(bare(heading ?? stored.message.title))
  })
})

test('has recorded deliveries of every kind', () => {
  const kinds = new Set(STORED.map(({ kind }) => kind))
  expect([...kinds].toSorted()).toEqual(['alert', 'notice', 'raised', 'reminder', 'summary'])
})
