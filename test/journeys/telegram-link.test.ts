import { afterAll, beforeAll, expect, test } from 'vitest'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

/** Journey from a deep link to managing watches in the chat. */

let world: World
let alice: Client
let ann: { readonly id: number }
let code: string

beforeAll(async () => {
  world = await harness()
  alice = await withTrial(await signIn(world, 'alice'))
  await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    label: 'Treasury',
    target: { address: alice.caller.wallet, asset: 'FLR' },
    settings: { threshold: '1' },
  })
  ann = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
})
afterAll(() => world.close())

/** Waits until the bot's newest message fits. */
function shown(fits: (text: string) => boolean) {
  const { telegram } = world
  return telegram.waitFor(() => {
    const message = telegram.lastMessage(ann.id)
    return message !== undefined && fits(message.text ?? '') ? message : undefined
  })
}

function press(messageId: number, label: string) {
  return world.telegram.press(ann.id, messageId, label)
}

test('a link is made with a token, for a private chat and for a group', async () => {
  const { status, headers, body } = await alice.request('POST', '/recipients/telegram-link', {})
  expect(status).toBe(201)
  expect(headers['cache-control']).toBe('no-store')
  code = new URL(body.url).searchParams.get('start') ?? ''
  expect(code).toMatch(/^[\w-]{22}$/)
  const groupCode = new URL(body.groupUrl).searchParams.get('startgroup')
  expect(groupCode).toMatch(/^[\w-]{22}$/)
  expect(groupCode).not.toBe(code)
})

test('the chat shows the wallet and the rights, and links nothing before the person confirms', async () => {
  world.telegram.send(ann.id, `/start ${code}`)
  const card = await shown((text) => text.includes('Link this chat?'))
  expect(card.text).toContain('Ann')
  expect((await alice.request('GET', '/recipients')).body.data).toEqual([])
  press(card.id, 'Link this chat')
  await shown((text) => !text.includes('Link this chat?'))
  expect((await alice.request('GET', '/recipients')).body.data).toMatchObject([
    { channel: 'telegram', status: 'active', default: true, locale: 'en' },
  ])
})

test('the link works once', async () => {
  world.telegram.send(ann.id, `/start ${code}`)
  await shown((text) => text.includes('no longer valid'))
})

test('the linked chat lists the watches and pauses one from its card', async () => {
  const { telegram } = world
  telegram.send(ann.id, '/watches')
  const list = await shown((text) => text.includes('Treasury'))
  press(list.id, '🟢 💰 \u2068Treasury\u2069')
  const offering = (label: string) =>
    telegram.waitFor(() => {
      const message = telegram.lastMessage(ann.id)
      return message?.keyboard?.flat().some(({ text }) => text === label) ? message : undefined
    })
  press((await offering('More')).id, 'More')
  press((await offering('Pause')).id, 'Pause')
  await shown((text) => text.includes('Paused by you'))
  const [paused] = (await alice.request('GET', '/watches')).body.data
  expect(paused.status).toBe('paused')
})

test('a chat without a link cannot change a watch', async () => {
  const ben = world.telegram.person({ firstName: 'Ben', languageCode: 'en' })
  const [watch] = (await alice.request('GET', '/watches')).body.data
  world.telegram.send(ben.id, '/watches')
  const message = await world.telegram.waitFor(() => world.telegram.lastMessage(ben.id))
  world.telegram.pressRaw(ben.id, message.id, `1:watch.resume:${watch.id.toString(36)}`)
  await world.telegram.waitFor(() => world.telegram.answers.at(-1))
  expect((await alice.request('GET', `/watches/${watch.id}`)).body.status).toBe('paused')
})
