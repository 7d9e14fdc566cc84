import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { normalizedText } from '#sandbox/tour/chat.ts'
import type { World } from '#sandbox/world.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { openBrowser } from '../support/browser.ts'
import { startSandboxWorld } from '../support/sandbox-world.ts'

/** Actions of a person since the last call of `restart`. */
export interface Effort {
  /** Presses in the chat, on pages and in the wallet. A typed and sent text is one. */
  readonly taps: number
  /** Those of them in the wallet. */
  readonly confirmations: number
  /** Pages opened from the chat or from a mail. */
  readonly visits: number
}

/** A person with a phone: the chat page of the sandbox, and pages with the wallet of the sandbox. */
export interface Phone {
  /** The person's id, which is that of their chat with the bot. */
  readonly id: number
  /** The chat page. */
  readonly chat: Page
  /** The page that was opened last. */
  readonly page: Page
  effort(): Effort
  restart(): void
  /** Presses Start in a chat that is still empty. */
  start(): Promise<void>
  /** Types a text into the chat and sends it. */
  say(text: string): Promise<void>
  /** Presses the button with exactly this label, on the newest message that has it, once it is there. */
  tap(label: string): Promise<void>
  /** Presses a button of the page. */
  click(name: string | RegExp): Promise<void>
  /** Ticks a box of the page. */
  tick(label: string): Promise<void>
  /** The newest message of the bot that contains this, once it is there. */
  read(text: string): Promise<ChatMessage>
  /** Opens the page that the button with exactly this label leads to. */
  open(label: string): Promise<void>
  /** Opens a page whose link is not in the chat. */
  visit(url: string): Promise<void>
  /** Confirms what the wallet asks. */
  confirm(question: string): Promise<void>
  /** Signs in on the page of a connect code. */
  sign(): Promise<void>
  /** Pays on the page of a top-up, until it says how many credits were added. */
  pay(): Promise<void>
  /** Waits until the page of a top-up says how many credits were added. */
  paid(): Promise<void>
}

/** A sandbox, and a browser for its people. */
export interface Phones {
  readonly world: World
  /** Gives a new person a phone, whose wallet has this account. */
  give(firstName: string, account: keyof typeof PEOPLE, language?: string): Promise<Phone>
  close(): Promise<void>
}

const WAIT_MS = 30_000
const CHAT_SIZE = { width: 430, height: 900 }
const PAGE_SIZE = { width: 360, height: 780 }

export async function startPhones(): Promise<Phones> {
  const [browser, world] = await Promise.all([openBrowser(), startSandboxWorld(silentLogger)])
  return {
    world,
    give: (firstName, account, languageCode = 'en') =>
      givePhone(world, browser, { firstName, account, languageCode }),
    async close() {
      await browser.close()
      await world.close()
    },
  }
}

interface Owner {
  readonly firstName: string
  readonly account: keyof typeof PEOPLE
  readonly languageCode: string
}

async function givePhone(world: World, browser: Browser, owner: Owner): Promise<Phone> {
  const { telegram } = world
  const context = await browser.newContext({ viewport: CHAT_SIZE })
  context.setDefaultTimeout(WAIT_MS)
  const person = telegram.person(owner)
  const chat = await openChat(context, `${world.url}/chat?chat=${person.id}`)
  let page = chat
  let taps = 0
  let confirmations = 0
  let visits = 0

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const fromBot = () => telegram.messages(person.id).filter(({ from }) => from === telegram.bot.id)
  const shown = (text: string) =>
    fromBot().findLast((message) => normalizedText(message.text).includes(text))

  /** Presses a button of the chat page, and returns the message that has it. */
  async function press(label: string): Promise<void> {
    const has = ({ keyboard }: ChatMessage) =>
      keyboard.flat().some(({ text }) => normalizedText(text) === label)
    const find = () => fromBot().findLast(has)
    const message = await telegram.waitFor(find, WAIT_MS).catch(() => {
      const labels = fromBot().flatMap(({ keyboard }) => keyboard.flat().map(({ text }) => text))
      throw new Error(`no button “${label}”, but ${labels.slice(-12).join(' | ')}`)
    })
    const index = message.keyboard.flat().findIndex(({ text }) => normalizedText(text) === label)
    taps += 1
    await chat.locator(`[data-id="${message.id}"] button.inline`).nth(index).click()
  }

  async function confirm(question: string): Promise<void> {
    await page.getByText(question).waitFor()
    taps += 1
    confirmations += 1
    await page.getByRole('button', { name: 'Confirm', exact: true }).click()
  }

  async function connectWallet(next: string): Promise<void> {
    await page.getByLabel('Account').selectOption(PEOPLE[owner.account].account.address)
    await confirm('Which account?')
    await confirm(next)
  }

  const phone: Phone = {
    id: person.id,
    chat,
    get page() {
      return page
    },
    effort: () => ({ taps, confirmations, visits }),
    restart() {
      taps = 0
      confirmations = 0
      visits = 0
    },
    confirm,
    async start() {
      taps += 1
      await chat.getByRole('button', { name: 'Start', exact: true }).click()
    },
    async say(text) {
      taps += 1
      await chat.getByLabel('Message', { exact: true }).fill(text)
      await chat.getByLabel('Send', { exact: true }).click()
    },
    async tap(label) {
      await press(label)
      await chat.locator('button.inline.waiting').waitFor({ state: 'detached' })
    },
    async click(name) {
      taps += 1
      await button(name).click()
    },
    async tick(label) {
      taps += 1
      await page.getByLabel(label).check()
    },
    async read(text) {
      try {
        return await telegram.waitFor(() => shown(text), WAIT_MS)
      } catch {
        const last = fromBot().slice(-4)
        throw new Error(
          `no “${text}”, but ${last.map((message) => normalizedText(message.text)).join(' | ')}`,
        )
      }
    },
    async open(label) {
      const opened = context.waitForEvent('page')
      await press(label)
      visits += 1
      page = await opened
      await page.setViewportSize(PAGE_SIZE)
    },
    async visit(url) {
      taps += 1
      visits += 1
      page = await context.newPage()
      await page.setViewportSize(PAGE_SIZE)
      await page.goto(url)
    },
    async sign() {
      await phone.click(/^Yes, sign (in with my|with this) wallet$/)
      await connectWallet('Sign this message?')
    },
    async pay() {
      await phone.click(/^Pay /)
      await connectWallet('Send this transaction?')
      await phone.paid()
    },
    async paid() {
      await page.getByRole('heading', { name: 'credits) added' }).waitFor()
    },
  }
  return phone
}

/** The chat page of a person, as Telegram shows it before the first message. */
async function openChat(context: BrowserContext, url: string): Promise<Page> {
  const chat = await context.newPage()
  await chat.goto(url)
  return chat
}
