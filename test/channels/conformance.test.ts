import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DeliveryError } from '#src/channels/define.ts'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { envelopeOf, HOSTILE_TEXTS } from '../support/envelopes.ts'
import { contextOf, WORLDS, type World } from './worlds.ts'

/** What all channels must do, tested with each channel's stand-in of `worlds.ts`. */
describe.each(CHANNEL_KEYS)('%s', (key) => {
  let world: World

  beforeEach(async () => {
    world = await WORLDS[key]()
  })

  afterEach(() => world.close())

  test('delivers title, body, fields and link', async () => {
    const { message } = envelopeOf()
    await world.channel.send(world.destination(), envelopeOf(), contextOf())
    const { count, text } = world.arrived()
    expect(count).toBe(1)
    for (const part of [message.title, message.body, 'Address', '242.5 FLR']) {
      expect(text).toContain(part)
    }
  })

  test('delivers in every language', async () => {
    for (const locale of LOCALES) {
      await world.channel.send(world.destination(), envelopeOf({ locale }), contextOf())
    }
    expect(world.arrived().count).toBe(LOCALES.length)
  })

  test('reports a timeout as temporary if there is no response', async () => {
    const destination = world.destination()
    world.hang()
    const error = await failure(world.impatient.send(destination, envelopeOf(), contextOf()))
    expect(error).toMatchObject({ reason: 'timeout', permanent: false })
  })

  test('reports a broken connection as temporary', async () => {
    const destination = world.destination()
    world.reset()
    const error = await failure(world.channel.send(destination, envelopeOf(), contextOf()))
    expect(error).toMatchObject({ permanent: false, retryAfterIsMandatory: false })
  })

  test('reports an error of the server as temporary', async () => {
    const destination = world.destination()
    world.fault()
    const error = await failure(world.channel.send(destination, envelopeOf(), contextOf()))
    expect(error).toMatchObject({ permanent: false, retryAfterIsMandatory: false })
  })

  test('reports a destination that no longer exists as permanent', async () => {
    const destination = world.destination()
    world.gone(destination)
    const error = await failure(world.channel.send(destination, envelopeOf(), contextOf()))
    expect(error).toMatchObject({ permanent: true, isOurFault: false })
    expect(error.becomes).toBe(key === 'telegram' ? 'blocked' : 'disabled')
    expect(world.arrived().count).toBe(key === 'webhook' ? 1 : 0)
  })

  test('reports how long a busy server asks to wait, and sends to another destination', async () => {
    const destination = world.destination()
    world.busy()
    const error = await failure(world.channel.send(destination, envelopeOf(), contextOf()))
    expect(error).toMatchObject({ permanent: false, retryAfterSeconds: world.busyWaitSeconds })
    const other = world.destination()
    await world.channel.send(other, envelopeOf(), contextOf())
    expect(world.arrived().text).toContain('242.5 FLR')
  })

  test('shortens a message that is too large, and keeps its title', async () => {
    const fields = Array.from({ length: 60 }, (_, index) => ({
      key: `field${index}`,
      label: `Label ${index}`,
      value: 'value '.repeat(200),
    }))
    const body = 'sentence '.repeat(2000)
    await world.channel.send(
      world.destination(),
      envelopeOf({ message: { body, fields } }),
      contextOf(),
    )
    expect(world.arrived()).toMatchObject({ count: 1 })
    expect(world.arrived().text).toContain('Balance changed')
  })

  test('sends texts with markup or control characters, each in one message', async () => {
    for (const text of HOSTILE_TEXTS) {
      const fields = [{ key: 'x', label: text, value: text, href: text }]
      const message = { title: text, body: text, watchLabel: text, fields }
      await world.channel.send(world.destination(), envelopeOf({ message }), contextOf())
    }
    expect(world.arrived().count).toBe(HOSTILE_TEXTS.length)
  })

  test('rejects with the reason of an abort', async () => {
    const stop = new AbortController()
    const destination = world.destination()
    world.hang()
    const sent = world.channel.send(destination, envelopeOf(), contextOf({ signal: stop.signal }))
    stop.abort(new Error('stopped'))
    await expect(sent).rejects.toThrow('stopped')
  })

  test('refuses a malformed destination', async () => {
    const send = world.channel.send(world.malformedDestination, envelopeOf(), contextOf())
    await expect(send).rejects.toThrow()
    expect(world.arrived().count).toBe(0)
    expect(() => world.channel.mask(world.malformedDestination)).toThrow()
    expect(() => world.channel.partitionKey(world.malformedDestination)).toThrow()
  })

  test('masks a destination, and gives equal destinations one partition key', () => {
    const destination = world.destination()
    const mask = world.channel.mask(destination)
    expect(mask).toContain('…')
    for (const part of Object.values(destination as object)) expect(mask).not.toContain(part)
    expect(world.channel.partitionKey(destination)).toBe(
      world.channel.partitionKey(structuredClone(destination)),
    )
  })

  test('is unavailable if its external service is not configured', async () => {
    expect(world.channel.available()).toBe(true)
    if (world.unconfigured === undefined) return
    expect(world.unconfigured.available()).toBe(false)
    const send = world.unconfigured.send(world.destination(), envelopeOf(), contextOf())
    expect(await failure(send)).toMatchObject({ reason: 'unavailable', isOurFault: true })
  })
})

async function failure(send: Promise<unknown>): Promise<DeliveryError> {
  const error = await send.then(
    () => new Error('it was delivered'),
    (reason: unknown) => reason,
  )
  if (error instanceof DeliveryError) return error
  throw error
}
