import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ControlPanel, createControlPanel } from '#sandbox/control-panel.ts'
import { ANY_BODY, type Customer, signIn } from '#sandbox/customer.ts'
import { createTourChat, normalizedText } from '#sandbox/tour/chat.ts'
import type { World } from '#sandbox/world.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { isWhole } from '../support/runs.ts'
import { startSandboxWorld } from '../support/sandbox-world.ts'

/** A world whose clock jumps: what waits for its time happens, once. Each test continues from the previous one. */

const DAY = DAY_MS / 1000
/** Jumps up to three hours are played in full. */
const SHORT_JUMP = 3 * 3600
const SLOTS = 8
const LOOK_MS = 200
const LOOKS_BEFORE_SKIP = 8
/** Number of blocks after which a payment counts, and a change of a balance is observed. */
const CONFIRMED_BLOCKS = 3
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
let panel: ControlPanel
let price = 0
/** Numbers of deliveries of the alerts so far, newest first, when the first weeks begin. */
let stored: readonly number[] = []

beforeAll(async () => {
  world = await startSandboxWorld(log)
  panel = createControlPanel(world)
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

/**
 * Waits until a text was sent a number of times. Notices that follow another one are gathered for ten minutes, which
 * pass if it does not come by itself.
 */
async function waitForText(text: string, times = 1): Promise<void> {
  let looks = 0
  const look = async () => {
    looks += 1
    if (count(text) < times && looks % LOOKS_BEFORE_SKIP === 0) await world.skip(() => 660)
    return count(text)
  }
  await expect.poll(look, { message: `“${text}” in the chat`, interval: LOOK_MS }).toBe(times)
}

/** Jumps, and waits until the service is ready again. */
async function jump(seconds: number): Promise<void> {
  await world.skip(() => seconds)
  await isReady()
}

async function isReady(): Promise<void> {
  const ask = async () => (await fetch(`${world.service.internalUrl}/readyz`)).json()
  await expect.poll(ask).toMatchObject({ status: 'ok', problems: [] })
}

/** Seconds to the next such hour, of the day after if it is near: all rounds of a short jump are played. */
const untilHour = (hour: number) => (now: Date) => {
  const seconds = Math.ceil((((hour * 3600 - now.getTime() / 1000) % DAY) + DAY) % DAY)
  return seconds < SHORT_JUMP ? seconds + DAY : seconds
}

async function move(flr: bigint): Promise<void> {
  const { devnet } = world
  const { alice: to, bob } = devnet.people
  await devnet.transfer(bob.account.address, to.account.address, flr * 10n ** 18n)
  await devnet.mine(CONFIRMED_BLOCKS, 1)
}

async function topUp(): Promise<void> {
  const customer = await alice()
  const json = { asset: 'WFLR', credits: CREDITS }
  await customer.call('POST', '/topup', { json, status: 201, body: ANY_BODY })
  const topup = await world.topups.newest()
  if (topup === undefined) throw new Error('no top-up was made')
  await world.topups.pay(topup, topup.amountUnits)
  await world.devnet.mine(CONFIRMED_BLOCKS, 1)
  const credited = async () => (await world.topups.state(topup)).creditedCredits
  await expect.poll(credited, { interval: LOOK_MS }).toBe(CREDITS)
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

/** Number of stored deliveries of each alert, newest first. */
async function deliveryCounts(): Promise<readonly number[]> {
  const customer = await alice()
  const path = '/alerts?limit=100'
  const { data } = await customer.call('GET', path, { status: 200, body: Alerts })
  return data.map((alert) => alert.deliveries.length)
}

const watchStates = async () =>
  (await (await alice()).call('GET', '/watches', { status: 200, body: Watches })).data.map(
    ({ status }) => status,
  )

// Only against hanging: long jumps play many reward epochs.
describe('a jump', { timeout: 180_000 }, () => {
  test('an alert during quiet hours is in their summary after a jump to their end', async () => {
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
    stored = await deliveryCounts()
    expect(stored[0]).toBeGreaterThan(0)
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

  test('data that is stored for 30 days is deleted after them', async () => {
    if (isWhole) {
      stored = await deliveryCounts()
      expect(stored[0]).toBeGreaterThan(0)
      await jump(100 * DAY)
    }
    await expect
      .poll(async () => (await deliveryCounts()).slice(-stored.length))
      .toEqual(stored.map(() => 0))
  })

  test('after 30 days Alice’s token has expired, and she gets another', async () => {
    const before = panel.token()
    expect(before).toMatch(/^fwd_/)
    await panel.makeChatLink()
    expect(panel.token()).not.toBe(before)
  })

  test('after all that time every payment option is still available', async () => {
    const pricing = await (await fetch(`${world.service.publicUrl}/api/x402/pricing`)).json()
    const open = { available: true, paused: false }
    expect(pricing).toMatchObject({ assets: [open, open, open], nativeFlr: open, nativeXrp: open })
  })

  test('no job failed because of a jump', () => {
    expect(errors).toEqual([])
  })
})

function dayText(at: Date): string {
  return at.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
}
