import { afterAll, beforeAll, expect, test } from 'vitest'
import { invoke } from '#src/operations/gate/invoke.ts'
import { getSettings } from '#src/operations/rest/settings.ts'
import { type BotWorld, botWorld, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

async function linked(name: 'alice' | 'bob') {
  const chat = world.person()
  await chat.say(`/start ${await world.linkCode(name, ['read', 'write'])}`)
  await chat.press('Link this chat')
  return chat
}

const windowsOf = async (name: 'alice' | 'bob') => {
  const caller = { wallet: walletOf(name), scopes: ['read'], via: 'http' } as const
  return (await invoke(world.app, getSettings, caller, {})).output.maintenance
}

test('maintenance that starts now holds back alerts, is listed with them, and ends by one press', async () => {
  const chat = await linked('alice')
  const watch = await world.addWatch('alice', { label: 'Node' })
  await chat.say('/mute')
  await chat.press('Maintenance…')
  expect(chat.last().text).toContain('No maintenance is planned.')
  await chat.press('Now, for 1 hour')
  expect(chat.last().text).toMatch(/^✓ Maintenance is planned\.\n.*is running until \d\d:\d\d/)
  const count = chat.all().length
  await alertsIn(world).fire(watch, { event: 'fsp.ftso-commit', severity: 'critical' })
  expect(chat.all()).toHaveLength(count)
  await chat.say('/alerts')
  expect(chat.last().text).toContain('(during maintenance)')
  await chat.say('/mute')
  await chat.press('Maintenance…')
  await chat.press('Maintenance')
  await chat.press('End it now')
  expect(chat.last().text).toMatch(/^✓ .*Maintenance.* has ended\./)
  expect(await windowsOf('alice')).toEqual([])
})

test('maintenance is planned for a typed time, and repeats if somebody says so', async () => {
  const chat = await linked('bob')
  await chat.say('/mute')
  await chat.press('Maintenance…')
  await chat.press('Plan for later…')
  for (const wrong of ['soon', '25:00', '2020-01-01 10:00', '2027-02-30 10:00']) {
    await chat.say(wrong)
    expect(chat.last().text).toContain('is not a time to come')
  }
  const day = new Date(world.clock.now().getTime() + 3 * 86_400_000).toISOString().slice(0, 10)
  await chat.say(`${day} 22:00`)
  expect(chat.last().text).toMatch(/The maintenance begins .*22:00/)
  await chat.press('2 h')
  await chat.press('Repeat every week')
  expect(chat.last().text).toContain('(every week)')
  expect(await windowsOf('bob')).toMatchObject([
    {
      from: new Date(`${day}T22:00:00Z`),
      until: new Date(new Date(`${day}T22:00:00Z`).getTime() + 7_200_000),
      repeat: 'weekly',
      watchIds: null,
    },
  ])
})
