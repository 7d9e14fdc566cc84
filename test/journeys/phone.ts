import type { Browser, Page } from 'playwright-core'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { plain } from '#sandbox/tour/chat.ts'
import { startWorld, type World } from '#sandbox/world.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { openBrowser } from '../support/browser.ts'

/** A person with a phone: a private chat with the bot, and a browser with the wallet of the sandbox. */
export interface Phone {
  readonly page: Page
  /** Presses since the last call of `restart`: in the chat, on pages and in the wallet. A typed command is one. */
  taps(): number
  restart(): void
  say(text: string): void
  /** Presses the button with exactly this label, on the newest message that has it, once it is there. */
  tap(label: string): Promise<void>
  /** Presses a button of the page. */
  click(name: string | RegExp): Promise<void>
  /** Ticks a box of the page. */
  tick(label: string): Promise<void>
  /** The newest message of the bot that contains this, once it is there. */
  read(text: string): Promise<ChatMessage>
  /** Opens what a button of a message links to. */
  open(message: ChatMessage, label: string): Promise<void>
  /** Signs in on the page of a connect code. */
  sign(): Promise<void>
  /** Pays on the page of a top-up, until it says how many credits were added. */
  pay(): Promise<void>
}

/** A sandbox, and a browser for its people. */
export interface Phones {
  readonly world: World
  /** Gives a new person a phone, whose wallet has this account. */
  give(firstName: string, account: keyof typeof PEOPLE): Promise<Phone>
  close(): Promise<void>
}

const WAIT_MS = 30_000

export async function startPhones(): Promise<Phones> {
  const [browser, world] = await Promise.all([
    openBrowser(),
    startWorld({ log: silentLogger, port: 0 }),
  ])
  return {
    world,
    give: (firstName, account) => givePhone(world, browser, { firstName, account }),
    async close() {
      await browser.close()
      await world.close()
    },
  }
}

async function givePhone(
  { telegram }: World,
  browser: Browser,
  owner: { readonly firstName: string; readonly account: keyof typeof PEOPLE },
): Promise<Phone> {
  const context = await browser.newContext({ viewport: { width: 360, height: 780 } })
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  const person = telegram.person({ firstName: owner.firstName, languageCode: 'en' })
  let taps = 0

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  async function click(name: string | RegExp): Promise<void> {
    taps += 1
    await button(name).click()
  }
  async function connectWallet(next: string): Promise<void> {
    await page.getByLabel('Account').selectOption(PEOPLE[owner.account].account.address)
    await click('Confirm')
    await page.getByText(next).waitFor()
    await click('Confirm')
  }

  return {
    page,
    click,
    taps: () => taps,
    restart() {
      taps = 0
    },
    say(text) {
      taps += 1
      telegram.send(person.id, text)
    },
    async tap(label) {
      taps += 1
      const hasIt = ({ keyboard }: ChatMessage) =>
        keyboard.flat().some(({ text }) => plain(text) === label)
      const find = () => telegram.messages(person.id).findLast(hasIt)
      const message = await telegram.waitFor(find, WAIT_MS)
      const found = message.keyboard.flat().find(({ text }) => plain(text) === label)
      await telegram.press(person.id, message.id, found?.callback_data ?? '').answer(WAIT_MS)
    },
    async tick(label) {
      taps += 1
      await page.getByLabel(label).check()
    },
    async read(text) {
      const said = () => telegram.messages(person.id).filter(({ from }) => from === telegram.bot.id)
      const find = () => said().findLast((one) => plain(one.text).includes(text))
      try {
        return await telegram.waitFor(find, WAIT_MS)
      } catch {
        const last = said().slice(-4)
        throw new Error(`no “${text}”, but ${last.map((one) => plain(one.text)).join(' | ')}`)
      }
    },
    async open(message, label) {
      const found = message.keyboard.flat().find(({ text }) => text === label)
      if (found?.url === undefined) throw new Error(`no link ${label}`)
      taps += 1
      await page.goto(found.url)
    },
    async sign() {
      await click('Yes, sign in with my wallet')
      await connectWallet('Sign this message?')
    },
    async pay() {
      await click(/^Pay /)
      await connectWallet('Send this transaction?')
      await page.getByRole('heading', { name: 'credits added' }).waitFor()
    },
  }
}
