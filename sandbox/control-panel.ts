import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import {
  ANY_BODY,
  type Customer,
  type DataCall,
  signIn,
  UnexpectedAnswerError,
} from './customer.ts'
import type { WorldParts } from './world/parts.ts'

/** Which of her steps Alice has done. */
export interface ControlPanelState {
  readonly isChatLinked: boolean
  readonly hasAnyWatch: boolean
  /** Whether her mailbox gets alerts; `pending` until she confirms it. */
  readonly mailState: 'no' | 'pending' | 'yes'
  readonly hasWebhook: boolean
  readonly hasAlert: boolean
}

/** A watch to create for Alice, as `POST /watches` takes it. */
export interface AliceWatch {
  readonly type: string
  readonly label: string
  readonly target: Readonly<Record<string, string>>
  readonly settings: Readonly<Record<string, string | number>>
}

/** Runs the usual steps of Alice over REST. Each may be repeated. */
export interface ControlPanel {
  /** Her API token; undefined until her first step signs her in. */
  token(): string | undefined
  /**
   * Accepts the terms, starts the trial and creates a link for a chat.
   * @returns the `t.me` link
   */
  makeChatLink(): Promise<string>
  /**
   * Creates a watch on her balance and waits for its first observation, because only later changes cause alerts. Does
   * nothing if she has any watch.
   */
  watchBalance(): Promise<void>
  /**
   * Creates a watch. If she has no free slot, she buys one and, if she has too few credits, credits.
   *
   * @returns false if she has a watch with this label
   */
  createWatch(watch: AliceWatch): Promise<boolean>
  /** Sets her mailbox, which is then asked for consent, and a webhook, whose secret the receiver gets. */
  setUpMailAndWebhook(): Promise<void>
  /** Accepts the terms and creates a top-up, which is not paid. */
  createTopUp(asset: string, credits: number): Promise<void>
  /** Calls metered data below `/data`, with her token. */
  callForData(path: string): Promise<DataCall>
  /** Which steps are done; none before the first step signs her in. */
  state(): Promise<ControlPanelState>
}

export const MAILBOX = 'alice@example.org'
const WEBHOOK_NAME = 'alice'
const THRESHOLD_FLR = '100'
const CREDITS = 10_000
const CREDIT_PATIENCE_MS = 20_000
const OBSERVED_PATIENCE_MS = 15_000
const POLL_MS = 100
const NOTHING_DONE: ControlPanelState = {
  isChatLinked: false,
  hasAnyWatch: false,
  mailState: 'no',
  hasWebhook: false,
  hasAlert: false,
}

const Terms = z.object({ currentVersion: z.string(), accepted: z.boolean() })
const Link = z.object({ url: z.string() })
const WebhookAnswer = z.object({ secret: z.string().optional() })
const Channels = z.object({
  data: z.array(z.object({ key: z.string(), status: z.string().nullable() })),
})
const Labels = z.object({ data: z.array(z.object({ label: z.string().nullable() })) })
const Watch = z.object({
  id: z.int(),
  signalStates: z.array(z.object({ state: z.string() })),
})
const Quote = z.object({ totalCredits: z.int() })
const AccountAnswer = z.object({ balanceCredits: z.int() })
const Listed = z.object({ data: z.array(z.unknown()) })

/** Creates the control panel of a world. Long because all its actions share one signed-in customer. */
export function createControlPanel({
  service,
  devnet,
  receiver,
  topups,
}: WorldParts): ControlPanel {
  let customer: Promise<Customer> | undefined
  let token: string | undefined

  const signInAsAlice = async () => {
    const signingIn = signIn(service.publicUrl, devnet.people.alice, {
      scopes: ['write', 'spend'],
      label: 'Sandbox desk',
    })
    customer = signingIn
    token = (await signingIn).token
    return signingIn
  }
  /** Runs work as Alice, signed in. Signs in and runs it again if her token is refused. */
  const asAlice = async <T>(work: (alice: Customer) => Promise<T>): Promise<T> => {
    const known = await customer?.catch(() => undefined)
    if (known === undefined) return work(await signInAsAlice())
    try {
      return await work(known)
    } catch (error) {
      if (!hasStatus(error, 401)) throw error
      return work(await signInAsAlice())
    }
  }

  return {
    token: () => token,
    makeChatLink: () =>
      asAlice(async (alice) => {
        await acceptTerms(alice)
        await startTrial(alice)
        const wanted = { json: {}, status: 201, body: Link }
        const { url } = await alice.call('POST', '/recipients/telegram-link', wanted)
        return url
      }),
    watchBalance: () =>
      asAlice(async (alice) => {
        if (await hasWatches(alice)) return
        await acceptTerms(alice)
        await startTrial(alice)
        const json = {
          type: 'wallet-balance',
          label: 'Alice’s wallet',
          target: { address: devnet.people.alice.account.address, asset: 'FLR' },
          settings: { threshold: THRESHOLD_FLR },
        }
        const { id } = await alice.call('POST', '/watches', { json, status: 201, body: Watch })
        await waitUntilObserved(alice, id)
      }),
    createWatch: (watch) =>
      asAlice(async (alice) => {
        await acceptTerms(alice)
        await startTrial(alice)
        const { data } = await alice.call('GET', '/watches?limit=100', {
          status: 200,
          body: Labels,
        })
        if (data.some(({ label }) => label === watch.label)) return false
        const make = () =>
          alice.call('POST', '/watches', { json: watch, status: 201, body: ANY_BODY })
        try {
          await make()
        } catch (error) {
          if (!hasStatus(error, 409)) throw error
          await buySlot(alice, topups)
          await make()
        }
        return true
      }),
    setUpMailAndWebhook: () =>
      asAlice(async (alice) => {
        const mail = { json: { address: MAILBOX }, status: 200, body: ANY_BODY }
        await alice.call('PUT', '/channels/email', mail)
        const webhook = {
          json: { url: receiver.url(WEBHOOK_NAME) },
          status: 200,
          body: WebhookAnswer,
        }
        const { secret } = await alice.call('PUT', '/channels/webhook', webhook)
        // The secret is returned only when the webhook is created.
        if (secret !== undefined) receiver.setSecret(WEBHOOK_NAME, secret)
      }),
    createTopUp: (asset, credits) =>
      asAlice(async (alice) => {
        await acceptTerms(alice)
        const wanted = { json: { asset, credits }, status: 201, body: ANY_BODY }
        await alice.call('POST', '/topup', wanted)
      }),
    callForData: (path) => asAlice((alice) => alice.callForData(path)),
    state: async () => (token === undefined ? NOTHING_DONE : asAlice(readState)),
  }
}

async function readState(alice: Customer): Promise<ControlPanelState> {
  const [channels, hasAnyWatch, alerts] = await Promise.all([
    alice.call('GET', '/channels', { status: 200, body: Channels }),
    hasWatches(alice),
    alice.call('GET', '/alerts?limit=1', { status: 200, body: Listed }),
  ])
  const statusOf = (key: string) => channels.data.find((channel) => channel.key === key)?.status
  const mail = statusOf('email')
  return {
    isChatLinked: statusOf('telegram') === 'active',
    hasAnyWatch,
    mailState: mail === 'active' ? 'yes' : mail === 'pending' ? 'pending' : 'no',
    hasWebhook: statusOf('webhook') === 'active',
    hasAlert: alerts.data.length > 0,
  }
}

/** Buys a slot for one period, and credits first if she has too few. */
async function buySlot(alice: Customer, topups: WorldParts['topups']): Promise<void> {
  const slots = 'quantity=1&periods=1'
  const quote = { status: 200, body: Quote } as const
  const { totalCredits } = await alice.call('GET', `/subscriptions/quote?${slots}`, quote)
  const enough = { status: 200, body: AccountAnswer } as const
  const { balanceCredits } = await alice.call('GET', '/account', enough)
  if (balanceCredits < totalCredits) await buyCredits(alice, topups)
  const json = { quantity: 1, periods: 1, expectedCredits: totalCredits }
  await alice.call('POST', '/subscriptions', { json, status: 201, body: ANY_BODY })
}

/** Buys 10,000 credits with WFLR, and waits until they are credited. */
async function buyCredits(alice: Customer, topups: WorldParts['topups']): Promise<void> {
  const json = { asset: 'WFLR', credits: CREDITS }
  await alice.call('POST', '/topup', { json, status: 201, body: ANY_BODY })
  const topup = await topups.newest()
  if (topup === undefined) throw new Error('the new top-up was not found')
  await topups.pay(topup, topup.amountUnits)
  for (let waitedMs = 0; (await topups.state(topup)).creditedCredits === 0; waitedMs += POLL_MS) {
    if (waitedMs > CREDIT_PATIENCE_MS) throw new Error('the payment was not credited in time')
    await wait(POLL_MS)
  }
}

/** Waits until each signal of a watch has been judged as ok. */
async function waitUntilObserved(alice: Customer, id: number): Promise<void> {
  for (let waitedMs = 0; waitedMs <= OBSERVED_PATIENCE_MS; waitedMs += POLL_MS) {
    const path = `/watches/${id}`
    const { signalStates } = await alice.call('GET', path, { status: 200, body: Watch })
    if (signalStates.every(({ state }) => state === 'ok')) return
    await wait(POLL_MS)
  }
  throw new Error('the watch was not observed in time')
}

async function hasWatches(alice: Customer): Promise<boolean> {
  const { data } = await alice.call('GET', '/watches?limit=1', { status: 200, body: Listed })
  return data.length > 0
}

async function acceptTerms(alice: Customer): Promise<void> {
  const path = '/account/terms'
  const { currentVersion, accepted } = await alice.call('GET', path, { status: 200, body: Terms })
  if (accepted) return
  await alice.call('POST', path, { json: { version: currentVersion }, status: 200, body: Terms })
}

/** Starts the trial, unless the wallet has had it. */
async function startTrial(alice: Customer): Promise<void> {
  try {
    await alice.call('POST', '/subscriptions/trial', { status: 201, body: ANY_BODY })
  } catch (error) {
    if (!hasStatus(error, 409)) throw error
  }
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof UnexpectedAnswerError && error.received.startsWith(`${status} `)
}
