import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#bot/callback-data.ts'
import { invoke } from '#src/operations/invoke.ts'
import { getWatch } from '#src/operations/watches.ts'
import { unlinkChat } from '#src/recipients/chats.ts'
import { saveStates } from '#src/watches/store.ts'
import { type BotWorld, botWorld, type Chatting, walletOf } from '../support/bot.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

/** A person whose chat is linked to a wallet. */
async function linked(name: Name, scopes: ('read' | 'write')[] = ['read', 'write']) {
  const chat = world.person()
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
  return chat
}

async function watchOf(name: Name, id: number) {
  const caller = { wallet: walletOf(name), scopes: ['read'], via: 'http' } as const
  const { output } = await invoke(world.app, getWatch, caller, { params: { id: String(id) } })
  return output
}

async function openCard(chat: Chatting, id: number): Promise<void> {
  await chat.say(`/watches ${id}`)
}

describe('the list', () => {
  test('says that nothing is watched yet', async () => {
    const carol = await linked('carol')
    await carol.say('/watches')
    expect(carol.last().text).toContain('Nothing is watched yet.')
    expect(carol.labels()).toEqual([['‹ Menu']])
  })

  test('has five watches a page, the worst first, and pages that lead round', async () => {
    const bob = await linked('bob')
    const { app } = world
    for (const label of ['G', 'F', 'E', 'D']) await world.addWatch('bob', { label })
    await world.addWatch('bob', { label: 'Paused', status: 'paused' })
    await world.addWatch('bob', { label: 'Waiting', status: 'suspended' })
    const until = new Date(app.clock.now().getTime() + 3_600_000)
    await world.addWatch('bob', { label: 'Quiet', mutedUntil: until })
    const loud = await world.addWatch('bob', { label: 'Loud' })
    const since = app.clock.now()
    await saveStates(app.db, [
      {
        watchId: loud,
        state: {
          signal: 'balance-change',
          state: { balanceUnits: null },
          phase: 'firing',
          since,
          streak: null,
          severity: 'critical',
          lastEvidenceAt: since,
          lastFiredAt: since,
        },
      },
    ])

    await bob.say('/watches')
    const page = bob.last().id
    expect(bob.last().text).toContain('Watches · 8')
    expect(bob.labels()).toEqual([
      ['🔴 \u2068Loud\u2069'],
      ['🎟 \u2068Waiting\u2069'],
      ['🟢 \u2068D\u2069'],
      ['🟢 \u2068E\u2069'],
      ['🟢 \u2068F\u2069'],
      ['‹', '1 / 2', '›'],
      ['‹ Menu'],
    ])
    expect(bob.last().text).toContain('🔴 \u2068Loud\u2069 · Wallet balance · active')
    expect(bob.last().text).toContain('🎟 \u2068Waiting\u2069 · Wallet balance · no slot')
    await bob.press('›')
    expect(bob.last().id).toBe(page)
    expect(bob.labels().slice(0, 3)).toEqual([
      ['🟢 \u2068G\u2069'],
      ['🔕 \u2068Quiet\u2069'],
      ['⏸ \u2068Paused\u2069'],
    ])
    expect(bob.last().text).toMatch(/🔕 .*muted until \d\d:\d\d\u00a0UTC/)
    await bob.press('›')
    expect(bob.last().text).toContain('Loud')
    await bob.press('1 / 2')
    expect(bob.last().text).toContain('Loud')
  })

  test('shows the last page when the one asked for is gone', async () => {
    const bob = await linked('bob')
    await bob.say('/watches')
    world.telegram.pressRaw(bob.id, bob.last().id, packed('watch.list', { page: 9 }))
    await world.settle()
    expect(bob.last().text).toContain('Paused')
  })
})

describe('the card', () => {
  test('says what is watched and when an alert comes', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    expect(alice.last().text).toContain('🟢 \u2068Treasury\u2069')
    expect(alice.last().text).toContain(`Wallet balance · #${id} · not checked yet`)
    expect(alice.last().text).toContain(`Wallet: ${walletOf('bob')} (FLR)`)
    expect(alice.last().text).toContain('Alert: a change of 100\u00a0FLR or more, any direction')
    expect(alice.labels()).toEqual([
      ['Pause', 'Delete…'],
      ['‹ Watches', 'Refresh'],
    ])
  })

  test('names a token by its contract', async () => {
    const alice = await linked('alice')
    const asset = '0x1D80c49BbBCd1C0911346656B529DF9E5c2F783d'
    const id = await world.addWatch('alice', { label: 'Wrapped', asset, direction: 'down' })
    await openCard(alice, id)
    expect(alice.last().text).toContain('(0x1D80…783d)')
    expect(alice.last().text).toContain('Alert: a decrease of 100\u00a00x1D80…783d or more')
  })

  test('pauses and resumes the watch in place', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    const card = alice.last().id
    await alice.press('Pause')
    expect((await watchOf('alice', id)).status).toBe('paused')
    expect(alice.last().id).toBe(card)
    expect(alice.last().text).toContain('⏸ Paused by you. It keeps its slot.')
    expect(alice.last().text).toContain('✓ Watch paused.')
    expect(alice.last().keyboard[0]?.[0]).toMatchObject({ text: 'Resume', style: 'primary' })
    await alice.press('Resume')
    expect((await watchOf('alice', id)).status).toBe('active')
    expect(alice.last().text).toContain('✓ Watch resumed.')
    await alice.press('Refresh')
    expect(alice.last().text).not.toContain('✓')
  })

  test('counts it as success when Telegram says that nothing changed', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    const before = alice.all().length
    await alice.press('Refresh')
    expect(world.telegram.lastCall('editMessageText')?.refused?.description).toContain(
      'not modified',
    )
    expect(alice.all()).toHaveLength(before)
  })

  test('deletes the watch after one question that names it', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'A name of more than sixteen letters' })
    await openCard(alice, id)
    await alice.press('Delete…')
    expect(alice.last().text).toContain('Delete \u2068A name of more than sixteen letters\u2069?')
    expect(alice.last().keyboard).toMatchObject([
      [{ text: 'Delete \u2068A name of more…\u2069', style: 'danger' }],
      [{ text: '‹ Keep' }],
    ])
    await alice.press('‹ Keep')
    expect(alice.labels()[0]).toEqual(['Pause', 'Delete…'])
    await alice.press('Delete…')
    await alice.press(packed('watch.deleteYes', { id }))
    expect(alice.last().text).toContain(
      '✓ \u2068A name of more than sixteen letters\u2069 is deleted.',
    )
    await expect(watchOf('alice', id)).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('of a watch that is gone says so, whatever is pressed', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Short-lived' })
    for (const verb of ['watch.card', 'watch.pause', 'watch.resume', 'watch.delete'] as const) {
      await openCard(alice, id)
      world.telegram.pressRaw(alice.id, alice.last().id, packed(verb, { id: id + 1_000_000 }))
      await world.settle()
      expect(alice.last().text).toBe('This no longer exists, or belongs to another wallet.')
      expect(alice.labels()).toEqual([['‹ Watches']])
    }
  })

  test('is deleted by a double click as by one, and stays so when it is pressed late', async () => {
    const carol = await linked('carol')
    const id = await world.addWatch('carol', { label: 'Twice' })
    await openCard(carol, id)
    await carol.press('Delete…')
    const data = packed('watch.deleteYes', { id })
    const { id: question } = carol.last()
    world.telegram.press(carol.id, question, data)
    world.telegram.press(carol.id, question, data)
    await world.settle()
    const { text } = carol.last()
    expect(text).toContain('✓ \u2068Twice\u2069 is deleted.')
    await expect(watchOf('carol', id)).rejects.toMatchObject({ kind: 'not_found' })
    world.telegram.pressRaw(carol.id, question, data)
    await world.settle()
    expect(carol.last()).toMatchObject({ id: question, text })
  })

  test('of another wallet is not found', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('carol', { label: 'Not yours' })
    await openCard(alice, id)
    expect(alice.last().text).toBe('This no longer exists, or belongs to another wallet.')
    const message = alice.last().id
    world.telegram.pressRaw(alice.id, message, packed('watch.deleteYes', { id }))
    await world.settle()
    expect((await watchOf('carol', id)).label).toBe('Not yours')
  })

  test('of any wallet of the chat is found, whichever it works on', async () => {
    const both = await linked('alice')
    await both.say(`/start ${await world.linkCode('carol')}`)
    await both.press('Link this chat')
    const id = await world.addWatch('alice', { label: 'First wallet' })
    await openCard(both, id)
    expect(both.last().text).toContain('First wallet')
    await both.press('Pause')
    expect((await watchOf('alice', id)).status).toBe('paused')
  })

  test('has nothing to change in a chat that only receives, and the gate holds against a forged press', async () => {
    const reader = await linked('carol', ['read'])
    const id = await world.addWatch('carol', { label: 'Look only' })
    await openCard(reader, id)
    expect(reader.last().text).toContain('This chat only receives.')
    expect(reader.labels()).toEqual([['‹ Watches', 'Refresh']])
    world.telegram.pressRaw(reader.id, reader.last().id, packed('watch.pause', { id }))
    await world.settle()
    expect(reader.last().text).toMatch(/^⚠️ This chat may not do that\./)
    expect(reader.last().text).toContain('Look only')
    expect((await watchOf('carol', id)).status).toBe('active')
    world.telegram.pressRaw(reader.id, reader.last().id, packed('watch.deleteYes', { id }))
    await world.settle()
    expect((await watchOf('carol', id)).label).toBe('Look only')
  })

  test('with a hostile name stays readable', async () => {
    const alice = await linked('alice')
    const label = '<b>&"\'_*[]()~`</a> عربي <3'
    const id = await world.addWatch('alice', { label })
    await openCard(alice, id)
    expect(alice.last().text).toContain(label)
    await alice.press('Delete…')
    await alice.press('‹ Keep')
    await alice.say('/watches')
    expect(alice.last().text).toContain(label)
  })

  test('comes anew when its message was deleted', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    const { id: messageId } = alice.last()
    world.telegram.failNext('editMessageText', {
      error_code: 400,
      description: 'Bad Request: message to edit not found',
    })
    await alice.press('Pause')
    expect(alice.last().id).not.toBe(messageId)
    expect(alice.last().text).toContain('✓ Watch paused.')
  })

  test('is shown without markup when Telegram refuses the markup', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    world.telegram.failNext('sendMessage', {
      error_code: 400,
      description: "Bad Request: can't parse entities: Unsupported start tag",
    })
    await openCard(alice, id)
    expect(alice.last().text).toContain('Treasury')
    expect(alice.last().entities.filter(({ type }) => type === 'bold')).toEqual([])
    expect(alice.labels()).toEqual([
      ['Pause', 'Delete…'],
      ['‹ Watches', 'Refresh'],
    ])
  })
})

test('a chat that was unlinked meanwhile is told so', async () => {
  const alice = await linked('alice')
  await alice.say('/watches')
  await unlinkChat(world.app, { chatId: alice.id })
  world.telegram.pressRaw(alice.id, alice.last().id, packed('watch.list', { page: 1 }))
  await world.settle()
  expect(alice.last().text).toBe('This chat is no longer linked.')
  await alice.say('/watches')
  expect(alice.last().text).toContain('Watchdog watches wallets')
})
