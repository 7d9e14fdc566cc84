import type { Logger } from '#src/kernel/logger.ts'
import { type Customer, signIn } from './customer.ts'
import { confirmLinkOf } from './inbox/mail.ts'
import {
  checkSignatures,
  checkWebhook,
  getAlertLinks,
  isBalanceAlert,
  openAlertPages,
} from './tour/alert.ts'
import * as api from './tour/alice.ts'
import { createTourChat, normalizedText, type TourChat } from './tour/chat.ts'
import * as money from './tour/money.ts'
import { createSteps, StepFailed, type StepNote, type Steps } from './tour/steps.ts'
import { openPage, pressButton } from './tour/web-page.ts'
import { startWorld, type World } from './world.ts'

/** Options of a tour. */
export interface TourOptions {
  readonly log: Logger
  readonly print: (line: string) => void
  readonly anvilPath?: string | undefined
  /** Aborts it. */
  readonly signal: AbortSignal
}

const MAILBOX = 'alice@example.org'
const HOOK = 'tour'
const LABEL = 'Treasury'
const FLR = 10n ** 18n
const MOVED_WEI = 500n * FLR
const MOVED = '500 FLR'
const DAY_S = 86_400
const SECONDS_MAX = 60
const PATIENCE_MS = 10_000

/**
 * Goes through a world of its own from signing in to deleting a watch, like people and programs, and prints
 * a line for each step.
 *
 * @returns whether every step succeeded
 */
export async function runTour({ log, print, anvilPath, signal }: TourOptions): Promise<boolean> {
  const inTime = AbortSignal.timeout(SECONDS_MAX * 1000)
  const breakOff = AbortSignal.any([signal, inTime])
  const steps = createSteps(print, breakOff)
  const starting = startWorld({ log, anvilPath, signal: breakOff, port: 0 })
  try {
    await walk(await steps.take('A world starts', () => starting), steps)
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
  } finally {
    const world = await starting.catch(() => undefined)
    await world?.close()
  }
  const { held, failed, seconds } = steps.outcome()
  const after = `after ${seconds.toFixed(1)} s`
  print('')
  if (failed === undefined) print(`All ${held} steps held, ${after}.`)
  else print(`${held} steps held, then one did not, ${after}: ${failed}`)
  return failed === undefined
}

/** Whether a mail is about Bob's transfer, not the test, which is about 12,500 FLR. */
function isAboutMove({ subject }: { readonly subject: string }): boolean {
  return ` ${normalizedText(subject)}`.includes(` ${MOVED}`)
}

async function walk(world: World, { take }: Steps): Promise<void> {
  const ann = createTourChat(world.telegram, world.telegramAccounts.people.get('ann')?.id ?? 0)
  const alice = await take('Alice signs in with her wallet', () =>
    signIn(world.service.publicUrl, world.devnet.people.alice, {
      scopes: ['write', 'spend'],
      label: 'Tour',
    }),
  )
  await take('Alice accepts the terms', () => api.acceptTerms(alice))
  await take('Alice starts the free trial', () => api.startTrial(alice))
  await spend(world, alice, { take })
  await take('Alice asks for mails', () => api.setUpMailbox(alice, MAILBOX))
  await take('The link in the mail is opened and “Yes” pressed', () => consent(world, alice))
  await take('A webhook is set up; its test arrives signed', () => setUpHook(world, alice))
  const link = await take('Alice makes a link for a Telegram chat', () => api.makeChatLink(alice))
  await take('Ann opens the link and confirms it', () => linkChat(ann, alice, link))
  const { address } = world.devnet.people.alice.account
  const id = await take('Alice watches her balance', () =>
    api.watchBalance(alice, { label: LABEL, address, threshold: '100' }),
  )

  const movedAt = await take('Bob sends Alice 500 FLR', (note) => move(world, note))
  const arrived = <T>(title: string, look: () => Promise<T>): Promise<T> =>
    take(title, async (note) => {
      const found = await look()
      note(`${((performance.now() - movedAt) / 1000).toFixed(1)} s after the transfer`)
      return found
    })
  const message = await arrived('The alert is in Ann’s chat', () => ann.read(MOVED))
  const mail = await arrived('The alert is in Alice’s mailbox', () =>
    world.inbox.waitFor(isAboutMove, PATIENCE_MS),
  )
  const page = await arrived('The alert is at the webhook; its signatures hold', async () => {
    const received = await world.receiver.waitFor(isBalanceAlert, PATIENCE_MS)
    return checkWebhook(received, { label: LABEL, changeAmount: `${MOVED_WEI}` })
  })
  await take('GET /alerts lists it as delivered three times', () =>
    api.waitForDeliveries(alice, id),
  )
  await take('Its page opens from chat, mail and webhook', () => {
    const inChat = JSON.stringify([message.keyboard, message.entities])
    const links = [inChat, mail.text ?? '', mail.html ?? '', page].flatMap((text) =>
      getAlertLinks(world.service.publicUrl, text),
    )
    return openAlertPages(links, [MOVED, LABEL])
  })

  await pauseAndResume(ann, alice, { id, take })
  await take('Alice deletes the watch', () => api.deleteWatch(alice, id))
  await letTimePass(world, ann, { take })
}

/** Buys credits, and spends them on a slot and on data. */
async function spend(world: World, alice: Customer, { take }: Pick<Steps, 'take'>): Promise<void> {
  await take('All five ways to pay are open', () => money.checkPrices(alice))
  const draft = await take('Alice asks for 10,000 credits for WFLR', () => money.draftTopup(alice))
  const txHash = await take('She pays 500 WFLR through the router', async (note) => {
    const { hash, block } = await money.payTopup(world, draft)
    note(`block ${block}`)
    return hash
  })
  await take('She names the payment; her balance is 10,000 credits', () =>
    money.confirmTopup(alice, draft, txHash),
  )
  await take('She buys a slot for 30 days; 9,500 are left', () => money.buySlot(alice))
  await take('50 calls for data are free', () => money.useFreeCalls(alice))
  await take('The 51st costs 1 credit, and the ledger says so', () => money.makePaidCall(alice))
}

async function pauseAndResume(
  ann: TourChat,
  alice: Customer,
  { id, take }: Pick<Steps, 'take'> & { readonly id: number },
): Promise<void> {
  await take('Ann pauses the watch on its card in the chat', async () => {
    ann.say('/watches')
    await ann.press(LABEL)
    await ann.press('More')
    await ann.press('Pause')
    await api.checkWatch(alice, id, 'paused')
  })
  await take('Ann resumes it', async () => {
    await ann.press('Resume')
    await api.checkWatch(alice, id, 'active')
  })
}

/** Alice's token ends with the term, so this comes last. */
async function letTimePass(
  world: World,
  ann: TourChat,
  { take }: Pick<Steps, 'take'>,
): Promise<void> {
  await take('27 days pass; the renewal of the slot is announced', async () => {
    // The trial ends on the way; notices within ten minutes of each other would be one.
    await world.skip(() => 15 * DAY_S)
    await world.skip(() => 12 * DAY_S)
    await ann.read('Auto-renew on')
  })
  await take('3 more days pass; it is renewed for 500 credits', async () => {
    await world.skip(() => 3 * DAY_S)
    await ann.read('1 slot renewed until')
  })
}

/** Gives consent: looking at the page changes nothing, pressing its button does. */
async function consent({ inbox }: World, alice: Customer): Promise<void> {
  const mail = await inbox.waitFor((received) => confirmLinkOf(received) !== undefined, PATIENCE_MS)
  const page = await openPage(confirmLinkOf(mail) ?? '')
  await api.checkChannel(alice, 'email', 'pending')
  await pressButton(page, 'Yes, send alerts')
  await api.checkChannel(alice, 'email', 'active')
}

async function setUpHook({ receiver }: World, alice: Customer): Promise<void> {
  receiver.setSecret(HOOK, await api.setUpHook(alice, receiver.url(HOOK)))
  await api.testHook(alice)
  checkSignatures(await receiver.waitFor(({ hook }) => hook === HOOK))
}

async function linkChat(ann: TourChat, alice: Customer, link: string): Promise<void> {
  ann.open(link)
  await ann.press('Link this chat')
  await ann.read('This chat is linked')
  await api.checkChannel(alice, 'telegram', 'active')
}

/** @returns when it was sent, on the scale of `performance.now()` */
async function move({ devnet }: World, note: StepNote): Promise<number> {
  const { alice, bob } = devnet.people
  const since = performance.now()
  const mined = await devnet.transfer(bob.account.address, alice.account.address, MOVED_WEI)
  note(`block ${mined.blockNumber}`)
  return since
}
