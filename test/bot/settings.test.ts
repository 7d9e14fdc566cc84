import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { getSettings, replaceSettings } from '#src/operations/rest/settings.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

async function linked(name: Name, scopes: readonly Scope[] = ['read', 'write'], locale = 'en') {
  const chat = world.person(locale)
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press(chat.labels()[0]?.[0] ?? '')
  return chat
}

function callerOf(name: Name) {
  return { wallet: walletOf(name), scopes: ['read', 'write'], via: 'http' } as const
}

async function settingsOf(name: Name) {
  return (await invoke(world.app, getSettings, callerOf(name), {})).output
}

describe('settings', () => {
  test('show those of the chat and of the wallet, and each leads to its screen', async () => {
    const chat = await linked('alice')
    await chat.say('/settings')
    expect(chat.last().text).toMatch(
      /^Settings\nThis chat: English · UTC \(\d\d:\d\d\u00a0UTC now\)\nFor the whole wallet 0xf39F…2266:\nQuiet hours: off \(22:00 – 07:00\)\nDigest: off\nReminders for critical alerts: after 15\u00a0min, 1\u00a0h, 4\u00a0h\nMinimum severity: Info\nRecoveries: on\nWeekly card: off\nReport of each reward epoch: off$/,
    )
    expect(chat.labels().flat()).toEqual([
      ...['Mute, quiet hours…', 'Recipients', '🌐 Language', 'Wallets', 'API tokens'],
      '‹ Menu',
    ])
    const buttons = chat.last().keyboard.flat()
    expect(buttons.find(({ text }) => text === 'API tokens')?.url).toMatch(/^https?:.*\/tokens$/)
    await chat.press('Mute, quiet hours…')
    expect(chat.labels().flat()).toEqual([
      ...['Mute', 'Quiet hours', 'Digest', 'Reminders', 'Severity', '‹ Settings'],
    ])
    await chat.press('Severity')
    await chat.press('Critical only')
    expect((await settingsOf('alice')).minSeverity).toBe('critical')
    await chat.press('Severity: all')
    expect((await settingsOf('alice')).minSeverity).toBe('info')
    await chat.press('Recoveries: on')
    expect(chat.last().text).toContain('Recoveries: off')
    expect((await settingsOf('alice')).recoveries).toBe(false)
  })

  test('are only those of the chat itself for a chat that only receives', async () => {
    const reader = await linked('bob', ['read'])
    await reader.say('/settings')
    expect(reader.last().text).toContain('This chat can only receive alerts.')
    expect(reader.labels().flat()).toEqual([
      ...['🌐 Language', 'Wallets', 'Help', 'Mute', '‹ Menu'],
    ])
    const data = packed('settings.recoveries', { on: false })
    world.telegram.pressRaw(reader.id, reader.last().id, data)
    await world.settle()
    expect(reader.last().text).toMatch(/^⚠️ This chat is not allowed to do that\./)
    expect((await settingsOf('bob')).recoveries).toBe(true)
  })

  test('keep a concurrent change of another field', async () => {
    const chat = await linked('carol')
    await chat.say('/settings')
    await chat.press('Mute, quiet hours…')
    await chat.press('Digest')
    const { version: _, ...before } = await settingsOf('carol')
    const body = { ...before, digestAt: '11:00' }
    await invoke(world.app, replaceSettings, callerOf('carol'), { body })
    await chat.press('Daily')
    expect(await settingsOf('carol')).toMatchObject({ digest: 'daily', digestAt: '11:00' })
  })
})

describe('quiet hours', () => {
  test('are switched on when one of their times is chosen', async () => {
    const chat = await linked('alice')
    await chat.say('/settings')
    await chat.press('Mute, quiet hours…')
    await chat.press('Quiet hours')
    await chat.press('Start: 22:00')
    await chat.press('23:00')
    expect((await settingsOf('alice')).quietHours).toEqual({
      enabled: true,
      from: '23:00',
      to: '07:00',
      criticalBypass: true,
    })
    expect(chat.last().text).toContain('Quiet hours: 23:00 – 07:00, critical alerts still sent')
    await chat.press('✓ Allow critical alerts')
    expect(chat.last().text).toContain(
      '⚠️ During quiet hours no alerts are sent, not even critical ones.',
    )
    await chat.press('Off')
    expect((await settingsOf('alice')).quietHours.enabled).toBe(false)
    await chat.press('On')
    await chat.press('End: 07:00')
    await chat.press('06:00')
    expect((await settingsOf('alice')).quietHours).toMatchObject({ from: '23:00', to: '06:00' })
  })

  test('stay off if a program has set equal ends', async () => {
    const chat = await linked('bob')
    const { version: _, ...before } = await settingsOf('bob')
    const quietHours = { ...before.quietHours, enabled: false, from: '07:00', to: '07:00' }
    const body = { ...before, quietHours }
    await invoke(world.app, replaceSettings, callerOf('bob'), { body })
    await chat.say('/settings')
    await chat.press('Mute, quiet hours…')
    await chat.press('Quiet hours')
    await chat.press('On')
    expect(chat.last().text).toMatch(/^⚠️ Quiet hours cannot start and end at the same time\./)
    expect((await settingsOf('bob')).quietHours).toEqual(quietHours)
  })

  test('accept typed times in any script, and refuse other texts', async () => {
    const chat = await linked('alice')
    await chat.say('/settings')
    await chat.press('Mute, quiet hours…')
    await chat.press('Quiet hours')
    await chat.press('Start: 23:00')
    await chat.say('late')
    expect(chat.last().text).toContain('“\u2068late\u2069” is not a time of day.')
    await chat.say('25:00')
    expect(chat.last().text).toContain('is not a time of day.')
    await chat.say('06:00')
    expect(chat.last().text).toContain('Quiet hours cannot start and end at the same time.')
    await chat.press('Start: 23:00')
    await chat.say('২২:৩০')
    expect((await settingsOf('alice')).quietHours.from).toBe('22:30')
    // A typed time is shown while they are off, too: On brings it back.
    await chat.press('Off')
    expect(chat.last().text).toContain('Quiet hours: off (22:30 – 06:00)')
    await chat.press('On')
    expect(chat.last().text).toContain('Quiet hours: 22:30 – 06:00')
    world.telegram.pressRaw(
      chat.id,
      chat.last().id,
      packed('settings.quiet', { field: 'ask', value: 'to' }),
    )
    await world.settle()
    expect(chat.last().text).toContain('When do quiet hours end?')
    await chat.say('/cancel')
    expect(chat.last().text).toContain('Quiet hours: 22:30 – 06:00')
  })
})

test('the digest can be off, every 15 minutes or daily at a time', async () => {
  const chat = await linked('alice')
  await chat.say('/settings')
  await chat.press('Mute, quiet hours…')
  await chat.press('Digest')
  await chat.press('15\u00a0min')
  expect((await settingsOf('alice')).digest).toBe('15m')
  await chat.press('Daily')
  expect(chat.labels().flat()).toContain('✓ 09:00')
  await chat.press('18:00')
  await chat.press('Other time…')
  await chat.say('7.45')
  expect(await settingsOf('alice')).toMatchObject({ digest: 'daily', digestAt: '07:45' })
  expect(chat.last().text).toContain('Digest: daily at 07:45')
  await chat.press('Off')
  expect((await settingsOf('alice')).digest).toBe('off')
})

test('reminders can be chosen, and switched off below an alert, which keeps its text', async () => {
  const chat = await linked('carol')
  await chat.say('/settings')
  await chat.press('Mute, quiet hours…')
  await chat.press('Reminders')
  await chat.press('5, 15, 60\u00a0min')
  expect((await settingsOf('carol')).repeat.critical).toEqual([5, 15, 60])
  await chat.press('Every hour')
  expect((await settingsOf('carol')).repeat.critical).toHaveLength(24)
  expect(chat.last().text).toContain('Reminders for critical alerts: hourly for a day')
  const alerts = alertsIn(world)
  const watch = await world.addWatch('carol', { label: 'Node' })
  await alerts.fire(watch, { event: 'fsp.ftso-commit', severity: 'critical' })
  const alert = chat.last()
  expect(alert.text).toContain('FTSO commit missing')
  const press = world.telegram.pressRaw(
    chat.id,
    alert.id,
    packed('settings.remind', { choice: 'off' }),
  )
  await world.settle()
  expect((await press.answer()).text).toContain('Reminders are off')
  expect((await settingsOf('carol')).repeat.critical).toEqual([])
  expect(chat.last()).toMatchObject({ id: alert.id, text: alert.text })
})

describe('the time zone of a chat', () => {
  test('is found by city, by name and by region, and is stored for its alerts', async () => {
    const chat = await linked('bob')
    const zone = async () => (await listChatLinks(world.app, chat.id))[0]?.timezone
    const askZone = async () => {
      await chat.press('🌐 Language')
      await chat.press('Time zone')
    }
    await chat.say('/settings')
    await askZone()
    await chat.say('Nowhereville')
    expect(chat.last().text).toContain('No time zone was found for “\u2068Nowhereville\u2069”.')
    await chat.say('dhaka')
    expect(chat.last().text).toContain('✓ Time zone: Asia/Dhaka')
    expect(await zone()).toBe('Asia/Dhaka')
    expect(chat.last().text).toContain('This chat: English · Asia/Dhaka (18:')
    await askZone()
    await chat.say('Kolkata')
    expect(await zone()).toBe('Asia/Kolkata')
    await askZone()
    await chat.say('san')
    expect(chat.last().text).toMatch(/^⚠️ Which one\?/)
    expect(chat.labels().slice(0, 3).flat().length).toBe(6)
    const [[first = '']] = chat.labels() as [[string]]
    await chat.press(first)
    expect(await zone()).toMatch(/\/San/)
    await askZone()
    await chat.press('Europe')
    expect(chat.labels().at(-2)?.[1]).toMatch(/^1 \/ \d+$/)
    await chat.press('›')
    const [[city = '']] = chat.labels() as [[string]]
    await chat.press(city)
    expect(await zone()).toMatch(/^(Europe|Atlantic|Arctic)\//)
  })

  test('is refused when it does not exist', async () => {
    const chat = await linked('bob')
    await chat.say('/settings')
    const data = packed('settings.zoneSet', { zone: 'Europe/Atlantis' })
    world.telegram.pressRaw(chat.id, chat.last().id, data)
    await world.settle()
    expect(chat.last().text).toMatch(/^⚠️ /)
    expect((await listChatLinks(world.app, chat.id))[0]?.timezone).toBe('UTC')
  })
})

test('settings are never shown in a group', async () => {
  const owner = world.telegram.person({ firstName: 'Ann', languageCode: 'en', started: true }).id
  const { id } = world.telegram.group({ title: 'Crew', members: [owner], admins: [owner] })
  const group = world.chat(id, owner)
  await group.say(`/start@${BOT_NAME} ${await world.groupCode('bob')}`)
  await group.press('Link this chat')
  await group.say('/settings')
  expect(group.last().text).toBe('Only available in a private chat.')
})
