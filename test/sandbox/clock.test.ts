import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createControlPanel } from '#sandbox/control-panel.ts'
import { ANY_BODY, type Customer, signIn } from '#sandbox/customer.ts'
import { createTourChat, normalizedText } from '#sandbox/tour/chat.ts'
import { startWorld, type World } from '#sandbox/world.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'

/** A world whose clock jumps: what waits for its time happens, once. Each test continues from the previous one. */

const DAY = DAY_MS / 1000
const SLOTS = 8
const CREDITS = 10_000
const PERIODS = { quantity: SLOTS, periods: 1 }
const Quote = z.object({ totalCredits: z.int() })
const Bought = z.object({ id: z.int() })
const Account = z.object({ balanceCredits: z.int() })
const Watches = z.object({ data: z.array(z.object({ id: z.int(), status: z.string() })) })
const Alerts = z.object({
  data: z.array(z.object({ deliveries: z.array(z.object({ status: z.string() })) })),
})

const errors: unknown[] = []
const log: Logger = {
  ...silentLogger,
  error: (fields, message) => void errors.push({ message, fields }),
}
let world: World
let price = 0

beforeAll(async () => {
  world = await startWorld({ log, port: 0 })
})
afterAll(async () => {
  await world?.close()
})

let signedIn: { readonly until: number; readonly customer: Promise<Customer> } | undefined

/** Alice, with a new token after a jump of weeks. Sign-ins are limited by real time, and tokens last 30 days. */
function alice(): Promise<Customer> {
  const now = world.clock.now().getTime()
  if (signedIn === undefined || now >= signedIn.until) {
    const options = { scopes: ['write', 'spend'], label: 'Clock' } as const
    const customer = signIn(world.service.publicUrl, world.devnet.people.alice, options)
    signedIn = { until: now + 29 * DAY_MS, customer }
  }
  return signedIn.customer
}

/** Number of messages to Ann with a text. */
function count(text: string): number {
  const { telegram, telegramAccounts } = world
  const ann = telegramAccounts.people.get('ann')?.id ?? 0
  return telegram
    .messages(ann)
    .filter(
      (message) => message.from === telegram.bot.id && normalizedText(message.text).includes(text),
    ).length
}

/** Waits until a text was sent a number of times; notices that follow another one are gathered for ten minutes. */
const waitForText = (text: string, times = 1) =>
  expect
    .poll(
      async () => {
        if (count(text) < times) await world.skip(() => 660)
        return count(text)
      },
      { message: `“${text}” in the chat`, interval: 1000 },
    )
    .toBe(times)

/** Jumps, and waits until the service is ready again. */
async function jump(seconds: number): Promise<void> {
  await world.skip(() => seconds)
  await isReady()
}

async function isReady(): Promise<void> {
  const ask = async () => (await fetch(`${world.service.internalUrl}/readyz`)).json()
  await expect.poll(ask).toEqual({ status: 'ok', problems: [] })
}

const untilHour = (hour: number) => (now: Date) =>
  Math.ceil((((hour * 3600 - now.getTime() / 1000) % DAY) + DAY) % DAY)

async function move(flr: bigint): Promise<void> {
  const { devnet } = world
  const { alice: to, bob } = devnet.people
  await devnet.transfer(bob.account.address, to.account.address, flr * 10n ** 18n)
}

async function topUp(): Promise<void> {
  const customer = await alice()
  const json = { asset: 'WFLR', credits: CREDITS }
  await customer.call('POST', '/topup', { json, status: 201, body: ANY_BODY })
  const topup = await world.topups.newest()
  if (topup === undefined) throw new Error('no top-up was made')
  await world.topups.pay(topup, topup.amountUnits)
  const credited = async () => (await world.topups.state(topup)).creditedCredits
  await expect.poll(credited, { interval: 500 }).toBe(CREDITS)
}

async function buySlots(): Promise<void> {
  const customer = await alice()
  const quoted = `/subscriptions/quote?quantity=${SLOTS}&periods=1`
  price = (await customer.call('GET', quoted, { status: 200, body: Quote })).totalCredits
  const json = { ...PERIODS, expectedCredits: price, autoRenew: true }
  await customer.call('POST', '/subscriptions', { json, status: 201, body: Bought })
}

const balance = async () =>
  (await (await alice()).call('GET', '/account', { status: 200, body: Account })).balanceCredits

const watchStates = async () =>
  (await (await alice()).call('GET', '/watches', { status: 200, body: Watches })).data.map(
    ({ status }) => status,
  )

// Only against hanging: long jumps play many reward epochs.
describe('a jump', { timeout: 180_000 }, () => {
  test('an alert during quiet hours is in their summary after a jump to their end', async () => {
    const panel = createControlPanel(world)
    const { telegram, telegramAccounts } = world
    const ann = createTourChat(telegram, telegramAccounts.people.get('ann')?.id ?? 0)
    ann.open(await panel.makeChatLink())
    await ann.press('Link this chat')
    await ann.read('This chat is linked')
    await panel.watchBalance()
    const customer = await alice()
    const quietHours = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }
    const { version: _version, ...settings } = DEFAULT_SETTINGS
    const json = { ...settings, quietHours }
    await customer.call('PUT', '/settings', { json, status: 200, body: ANY_BODY })
    await jump(untilHour(23)(world.clock.now()))
    await move(500n)
    const held = async () => {
      const path = '/alerts?limit=1'
      const { data } = await customer.call('GET', path, { status: 200, body: Alerts })
      return data.flatMap(({ deliveries }) => deliveries.map(({ status }) => status))
    }
    await expect.poll(held).toContain('held')
    expect(count('500 FLR')).toBe(0)
    await jump(untilHour(7)(world.clock.now()))
    await waitForText('During quiet hours')
  })

  test('small jumps in a row and two concurrent jumps add up, and repeat nothing', async () => {
    const before = world.clock.now().getTime()
    for (const seconds of [1, 59, 600, 301]) await world.skip(() => seconds)
    await Promise.all([world.skip(() => DAY), world.skip(() => DAY)])
    await isReady()
    const passed = world.clock.now().getTime() - before
    expect(passed).toBeGreaterThanOrEqual(2 * DAY_MS + 961_000)
    expect(passed).toBeLessThan(2 * DAY_MS + 1_200_000)
    await jump(untilHour(12)(world.clock.now()))
    await move(600n)
    await waitForText('600 FLR')
    await waitForText('During quiet hours')
  })

  test('a renewal is announced three days ahead, then paid, with a receipt', async () => {
    await topUp()
    await buySlots()
    expect(CREDITS - 3 * price).toBeLessThan(0)
    const end = new Date(world.clock.now().getTime() + 30 * DAY_MS)
    await jump(27 * DAY)
    await waitForText(`Auto-renew on ${dayText(end)}`)
    await jump(3 * DAY)
    await waitForText(`${SLOTS} slots renewed until`)
    expect(await balance()).toBe(CREDITS - 2 * price)
  })

  test('without credits each try is reported, then the slots end and the watch is suspended', async () => {
    await jump(30 * DAY)
    await waitForText('Renewal failed')
    expect(await watchStates()).toEqual(['active'])
    await jump(DAY)
    await waitForText('Renewal failed', 2)
    await jump(DAY)
    await waitForText('That was the final attempt')
    expect(count('Renewal failed')).toBe(3)
    await jump(DAY)
    await waitForText('1 watch suspended')
    expect(await watchStates()).toEqual(['suspended'])
  })

  test('after a top-up and a purchase the watch resumes, and alerts again', async () => {
    await topUp()
    await buySlots()
    await waitForText('1 watch resumed')
    expect(await watchStates()).toEqual(['active'])
    await jump(untilHour(12)(world.clock.now()))
    await move(700n)
    await waitForText('700 FLR')
  })

  test('a jump of 100 days deletes data that is stored for 30 days', async () => {
    const deliveries = async (customer: Awaited<ReturnType<typeof alice>>) => {
      const path = '/alerts?limit=100'
      const { data } = await customer.call('GET', path, { status: 200, body: Alerts })
      return data.map((alert) => alert.deliveries.length)
    }
    const before = await deliveries(await alice())
    expect(before[0]).toBeGreaterThan(0)
    await jump(100 * DAY)
    const customer = await alice()
    await expect
      .poll(async () => (await deliveries(customer)).slice(-before.length))
      .toEqual(before.map(() => 0))
  })

  test('no job failed because of a jump', () => {
    expect(errors).toEqual([])
  })
})

function dayText(at: Date): string {
  return at.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
}
