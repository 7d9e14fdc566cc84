import type { Browser, Page } from 'playwright-core'
import { parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { runAndReportAlerts } from '#sandbox/scenarios/report-alerts.ts'
import type { World } from '#sandbox/world.ts'
import { cryptoFeedId } from '#src/chain/feeds/feed-names.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { openBrowser } from '../support/browser.ts'
import { startSandboxWorld, withBlocks } from '../support/sandbox-world.ts'

/** The index and scenario pages in a real browser. Each test continues from the previous one. */

const EVENT_PATIENCE_MS = 60_000
const FTSO_V2 = parseAbi([
  'function getFeedById(bytes21 id) view returns (uint256 value, int8 decimals, uint64 timestamp)',
])
const CLOCKS_APART_MS_MAX = 5000

let world: World
let browser: Browser
let page: Page
const problems: string[] = []

beforeAll(async () => {
  world = await startSandboxWorld(silentLogger)
  browser = await openBrowser()
  page = await browser.newPage()
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
})

afterAll(async () => {
  await browser?.close()
  await world?.close()
})

const open = (path: string) => page.goto(world.url + path)
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const logged = (text: string) => page.locator('#log li', { hasText: text }).first().waitFor()

test('the index shows that everything runs, and no token before a sign-in', async () => {
  await open('/')
  expect(await page.locator('h1').textContent()).toBe('Everything is ready. Try this:')
  expect(await page.locator('#parts .critical').count()).toBe(0)
  expect(await page.locator('#accounts').textContent()).toContain('10,000.00 FLR')
  expect(await page.content()).not.toContain('fwd_')
})

test('the links of the index lead to existing pages', async () => {
  const links = await page
    .locator('main a')
    .evaluateAll((all) => all.map((a) => Reflect.get(a, 'href')))
  expect(links.length).toBeGreaterThan(8)
  for (const href of new Set(links)) {
    expect({ href, status: (await fetch(href)).status }).toEqual({ href, status: 200 })
  }
})

test('one press signs Alice in and opens her link in Ann’s chat, where it works', async () => {
  await press('Link Ann’s chat')
  await page.waitForURL(/\/chat\?person=ann/)
  await press('Start')
  await press('Link this chat')
  await page.getByText('This chat is linked').first().waitFor()
})

test('the steps are ticked off as they are done', async () => {
  await open('/')
  expect(await page.locator('#step-link').textContent()).toContain('done')
  expect(await page.locator('#curl').textContent()).toContain('fwd_')
  await press('Watch Alice’s balance')
  await withBlocks(world, page.locator('#step-watch', { hasText: 'done' }).waitFor())
  await press('Set up both')
  await page.locator('#step-destinations', { hasText: 'Now follow the link' }).waitFor()
  const mail = await world.inbox.waitFor((mail) => confirmLinkOf(mail) !== undefined)
  const body = new URLSearchParams({ answer: 'yes' })
  expect((await fetch(confirmLinkOf(mail) ?? '', { method: 'POST', body })).status).toBe(200)
  await page.locator('#step-destinations', { hasText: 'done' }).waitFor()
})

test('a move of FLR leads to alerts in chat, mailbox and webhook, and the log says after how long', async () => {
  await open('/happen')
  await press('Move 500 FLR out')
  await withBlocks(world, logged('Move 500 FLR out → alert'))
  for (const where of [
    'in Ann’s chat',
    'in the mailbox of alice@example.org',
    'at the hook “alice”',
  ]) {
    await logged(`alert ${where} after`)
  }
  expect(new URL(page.url()).pathname).toBe('/happen')
  expect(await page.locator('#wallets').textContent()).toContain('Bob has 10,500.00 FLR')
  expect(world.receiver.deliveries.every(({ answer }) => answer === 200)).toBe(true)
})

test('a reply to a person in the chat does not count as an alert', async () => {
  const ann = world.telegramAccounts.people.get('ann')?.id ?? 0
  const notes: string[] = []
  const over = new AbortController()
  const isAnswer = ({ chatId, from, text }: { chatId: number; from: number; text: string }) =>
    chatId === ann && from === world.telegram.bot.id && text.includes('FLR')
  const counted = runAndReportAlerts(
    world,
    { words: ['FLR'], events: [] },
    { note: (text) => notes.push(text), signal: over.signal },
    async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const end = world.telegram.onChange((change) => {
        if (change.kind === 'message' && isAnswer(change.message)) resolve()
      })
      world.telegram.send(ann, '/status')
      await promise
      end()
      // Its listener was called before this one.
      over.abort()
    },
  )
  await counted
  expect(notes).toEqual(['no alert arrived: nobody watches this, or something is down'])
})

test('the next message is refused with 429, unless that is cancelled', async () => {
  // The bot sends nothing unprompted here, which would be refused in place of its answer.
  await press('Telegram 429')
  await press('Cancel')
  await logged('Telegram 429 → cancelled')
  await press('Telegram 429')
  await page.getByText('The next message will be refused.').waitFor()
  const ann = world.telegramAccounts.people.get('ann')?.id ?? 0
  world.telegram.send(ann, '/watches')
  await logged('Telegram 429 → a message was refused')
  const refused = world.telegram.calls.filter((call) => call.refused?.code === 429)
  expect(refused).toHaveLength(1)
})

test('a top-up is created, paid in halves and credited, and its page is linked on the index', async () => {
  await open('/happen')
  await press('Pay the newest top-up')
  await logged('Pay the newest top-up → nobody has asked for a top-up yet')
  await press('Top-up in WFLR')
  await logged('Top-up in WFLR → 500 WFLR to pay')
  await press('Pay half of it')
  await withBlocks(world, logged('Pay half of it → 250 WFLR paid · 5,000 credits after'))
  await press('Pay the newest top-up')
  await withBlocks(world, logged('Pay the newest top-up → 500 WFLR paid · 10,000 credits after'))
  await open('/')
  const link = page.getByRole('link', { name: 'Paying a top-up' })
  const { status } = await fetch((await link.getAttribute('href')) ?? '')
  expect(status).toBe(200)
})

test('XRP with the tag of a top-up is credited', async () => {
  await open('/happen')
  await press('Top-up in XRP')
  await logged('Top-up in XRP → 4 XRP to pay')
  await press('Deposit XRP')
  await logged('Deposit XRP → 4 XRP paid · 10,000 credits after')
})

test('calls for data are free until the free calls are used up', async () => {
  await press('1 metered call')
  await logged('0 credits charged · 49 free calls left · balance 25,000')
  await press('Use up the free calls')
  await logged('0 credits charged · 0 free calls left · balance 25,000')
  await press('1 metered call')
  await logged('1 credit charged · 0 free calls left · balance 24,999')
})

test('time passes for the chain and all other parts together', async () => {
  const before = world.clock.now().getTime()
  await press('+12 h')
  await logged('+12 h → it is')
  const after = world.clock.now().getTime()
  expect(after - before).toBeGreaterThanOrEqual(12 * HOUR_MS)
  expect(after - before).toBeLessThan(12 * HOUR_MS + 60_000)
  const { timestamp } = await world.devnet.client.getBlock()
  expect(Math.abs(Number(timestamp) * 1000 - after)).toBeLessThan(CLOCKS_APART_MS_MAX)

  // All rounds of a jump of less than three hours are played: the farther hour first, from which the other is far too.
  const hour = world.clock.now().getUTCHours()
  const hours = hour < 7 || hour === 22 || hour === 23 ? ['22:00', '07:00'] : ['07:00', '22:00']
  for (const time of hours) {
    await press(`to ${time}`)
    await logged(`to ${time} → it is ${time}:0`)
  }
})

test('after time has passed alerts still arrive, signed at the time of the sandbox', async () => {
  const seen = world.receiver.deliveries.length
  await press('Move 500 FLR in')
  const isNew = (alert: { readonly id: number }) => alert.id > seen
  const { verdicts } = await withBlocks(world, world.receiver.waitFor(isNew, 10_000))
  expect(verdicts).toMatchObject({ watchdog: { ok: true }, standard: { ok: true } })
})

test('a price moves, and the scenario waits for its alert until it arrives or the wait is cancelled', async () => {
  await open('/happen')
  await press('FLR/USD +6 %')
  await logged('FLR/USD +6 % → it is 0.0212 …')
  await page.getByText('FLR/USD is at 0.0212.').waitFor()
  const stop = page.getByRole('button', { name: 'Stop waiting for what follows “FLR/USD +6 %”' })
  await stop.click()
  await logged('FLR/USD +6 % → it is 0.0212 · no alert arrived')
  await stop.waitFor({ state: 'detached' })
})

test('a feed that stands still is out of date until it moves again', async () => {
  await press('Feed stands still 12 min')
  await page.getByText('FLR/USD has not been updated for 12 minutes').waitFor()
  const { simulation, devnet } = world
  const read = () =>
    devnet.client.readContract({
      address: devnet.contracts.ftsoV2,
      abi: FTSO_V2,
      functionName: 'getFeedById',
      args: [cryptoFeedId('FLR/USD')],
    })
  const ageS = async () => world.clock.now().getTime() / 1000 - Number((await read())[2])
  expect(await ageS()).toBeGreaterThan(11 * 60)
  expect(simulation.feed('FLR/USD')).toBe(0.0212)
  await press('Feed moves again')
  await expect.poll(ageS).toBeLessThan(30)
})

test('a provider does something wrong for some rounds, and is healthy again', async () => {
  const alpha = world.simulation.provider('Alpha')
  await page
    .getByText(`${alpha.accounts.identity.address} is the one to watch; it is healthy.`)
    .waitFor()
  const { round } = world.simulation
  await press('Commits only')
  await logged('Commits only → rounds')
  expect(world.simulation.round).toBeGreaterThanOrEqual(round + 4)
  await page.getByText('it commits and never reveals.').waitFor()
  await press('Healthy again')
  await logged('Healthy again → rounds')
  await page.getByText('it is healthy.').waitFor()
  expect(alpha.behaviours.size).toBe(0)
})

test('a watch of a provider sends alerts about its faults, and their recovery', async () => {
  await press('Alice watches Alpha')
  await logged('watches: Alpha’s rounds · watches: Alpha’s standing · watches: Alpha’s votes')
  await press('Alice watches Alpha')
  await logged('watched already: Alpha’s rounds')
  // Rounds before the watch was made do not count.
  await press('10 rounds')
  await logged('10 rounds → rounds')
  const seen = world.receiver.deliveries.length
  const notified = (event: string) =>
    world.receiver.waitFor(
      ({ id, headers }) => id > seen && headers['x-watchdog-event'] === event,
      EVENT_PATIENCE_MS,
    )
  await press('Silent')
  await notified('fsp.ftso-commit')
  await press('Healthy again')
  await notified('fsp.ftso-commit.recovered')
})

test('a watch of a price sends an alert about its move', async () => {
  await press('Alice watches FLR/USD')
  await logged('watches: FLR/USD by 5 %')
  const seen = world.receiver.deliveries.length
  // Its first price is the baseline.
  await press('+1 min')
  await logged('+1 min → it is')
  await press('FLR/USD +12 %')
  await press('+1 min')
  await world.receiver.waitFor(
    ({ id, headers }) => id > seen && headers['x-watchdog-event'] === 'feed-move.threshold',
    EVENT_PATIENCE_MS,
  )
  await logged('FLR/USD +12 % → it is 0.023744 · alert')
})

test('the reward epoch ends, and the next one begins at the time of the sandbox', async () => {
  const { rewardEpoch } = world.simulation
  await press('Next reward epoch')
  await logged(`Reward epoch ${rewardEpoch + 1}, round`)
  expect(world.simulation.rewardEpoch).toBe(rewardEpoch + 1)
  const { timestamp } = await world.devnet.client.getBlock()
  expect(Math.abs(Number(timestamp) * 1000 - world.clock.now().getTime())).toBeLessThan(
    CLOCKS_APART_MS_MAX,
  )
})

test('while the RPC is down the index says so, and one press ends it', async () => {
  await press('RPC down 2 min')
  await page.getByText('The RPC endpoint is down.').waitFor()
  await open('/')
  await page.getByRole('heading', { name: 'Down right now: Chain 14' }).waitFor()
  await open('/happen')
  await press('RPC back now')
  await logged('RPC down 2 min → for 2 min · ended after')
  await open('/')
  await page.getByRole('heading', { name: 'Everything is ready.' }).waitFor()
})

test('Telegram and the mail server go down and come up again', async () => {
  await open('/happen')
  await press('Telegram down')
  await page.getByText('Telegram is down.').waitFor()
  await expect(fetch(world.telegram.url)).rejects.toThrow()
  await press('Telegram up again')
  await logged('Telegram down → until you end it · ended after')
  expect((await fetch(world.telegram.url)).status).toBe(404)

  await press('Mail down')
  await page.getByText('The mail server is down.').waitFor()
  expect(world.inbox.mode).toBe('down')
  // Ended on the inbox page instead of this page.
  await world.inbox.setMode('ok')
  await logged('Mail down → until you end it · ended after')
  await page.getByRole('button', { name: 'Mail down' }).waitFor()
})

test('a link to the bot opens in Ann’s chat, another link does not', async () => {
  await open('/')
  const link = page.getByRole('textbox')
  await link.fill(`https://t.me/${world.telegram.bot.username}?start=menu`)
  await press('Open in Ann’s chat')
  await page.waitForURL('**/chat?person=ann**')
  await open('/')
  await link.fill('https://t.me/SomeOtherBot?start=menu')
  await press('Open in Ann’s chat')
  await page.getByText('This is no link to the bot').waitFor()
})

test('links to the bot on the service’s pages lead to the sandbox’s chat', async () => {
  const html = await (await fetch(`${world.service.publicUrl}/`)).text()
  expect(html).toContain(`href="${world.url}/chat"`)
  expect(html).not.toContain('t.me/')
})

test('an unknown scenario is refused', async () => {
  const { status } = await fetch(`${world.url}/happen/earthquake`, { method: 'POST' })
  expect(status).toBe(404)
})

test('the pages fit a phone, light and dark, without an error', async () => {
  await page.setViewportSize({ width: 360, height: 780 })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const path of ['/', '/happen', '/terms']) {
      await open(path)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect({ path, width }).toEqual({ path, width: 360 })
    }
  }
  expect(problems).toEqual([])
})
