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

/** Alice's progress. */
export interface ControlPanelState {
  readonly linked: boolean
  readonly watching: boolean
  readonly mailing: 'no' | 'pending' | 'yes'
  readonly hooked: boolean
  readonly alerted: boolean
}

/** What a watch of Alice is made from. */
export interface AliceWatch {
  readonly type: string
  readonly label: string
  readonly target: Readonly<Record<string, string>>
  readonly settings: Readonly<Record<string, string | number>>
}

/** Runs Alice's usual steps over REST, each repeatable. */
export interface ControlPanel {
  /** Her token, after signing in. */
  token(): string | undefined
  /**
   * Accepts the terms, starts the trial and creates a link for a chat.
   * @returns the `t.me` link
   */
  makeChatLink(): Promise<string>
  /** Watches her balance, unless it is watched, and waits for the baseline: only later changes count. */
  watchBalance(): Promise<void>
  /**
   * Creates a watch. Without a free slot she buys one, and the credits for it.
   *
   * @returns false if it existed before
   */
  watch(watch: AliceWatch): Promise<boolean>
  /** Adds her mailbox, which asks for consent, and a webhook, whose secret the receiver learns. */
  setUpMailAndHook(): Promise<void>
  /** Accepts the terms and creates a top-up. */
  askForCredits(asset: string, credits: number): Promise<void>
  /** Calls metered data below `/data`, with her token. */
  callForData(path: string): Promise<DataCall>
  /** Empty progress before signing in. */
  state(): Promise<ControlPanelState>
}

export const MAILBOX = 'alice@example.org'
const HOOK = 'alice'
const THRESHOLD_FLR = '100'
const CREDITS = 10_000
const CREDIT_PATIENCE_MS = 20_000
const LOOKED_PATIENCE_MS = 15_000
const LOOK_MS = 100
const NOTHING_DONE: ControlPanelState = {
  linked: false,
  watching: false,
  mailing: 'no',
  hooked: false,
  alerted: false,
}

const Terms = z.object({ currentVersion: z.string(), accepted: z.boolean() })
const Link = z.object({ url: z.string() })
const Hooked = z.object({ secret: z.string().optional() })
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

  const enter = async () => {
    const signedIn = signIn(service.publicUrl, devnet.people.alice, {
      scopes: ['write', 'spend'],
      label: 'Sandbox desk',
    })
    customer = signedIn
    token = (await signedIn).token
    return signedIn
  }
  /** Runs work as Alice. Signs in again if her token is no longer valid. */
  const asAlice = async <T>(work: (alice: Customer) => Promise<T>): Promise<T> => {
    const known = await customer?.catch(() => undefined)
    if (known === undefined) return work(await enter())
    try {
      return await work(known)
    } catch (error) {
      if (!isAnswer(error, 401)) throw error
      return work(await enter())
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
        if (await hasWatch(alice)) return
        await acceptTerms(alice)
        await startTrial(alice)
        const json = {
          type: 'wallet-balance',
          label: 'Alice’s wallet',
          target: { address: devnet.people.alice.account.address, asset: 'FLR' },
          settings: { threshold: THRESHOLD_FLR },
        }
        const { id } = await alice.call('POST', '/watches', { json, status: 201, body: Watch })
        await untilLooked(alice, id)
      }),
    watch: (watch) =>
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
          if (!isAnswer(error, 409)) throw error
          await buySlot(alice, topups)
          await make()
        }
        return true
      }),
    setUpMailAndHook: () =>
      asAlice(async (alice) => {
        const mail = { json: { address: MAILBOX }, status: 200, body: ANY_BODY }
        await alice.call('PUT', '/channels/email', mail)
        const hook = { json: { url: receiver.url(HOOK) }, status: 200, body: Hooked }
        const { secret } = await alice.call('PUT', '/channels/webhook', hook)
        // The secret is returned only when the webhook is created.
        if (secret !== undefined) receiver.setSecret(HOOK, secret)
      }),
    askForCredits: (asset, credits) =>
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
  const [channels, watching, alerts] = await Promise.all([
    alice.call('GET', '/channels', { status: 200, body: Channels }),
    hasWatch(alice),
    alice.call('GET', '/alerts?limit=1', { status: 200, body: Listed }),
  ])
  const statusOf = (key: string) => channels.data.find((channel) => channel.key === key)?.status
  const mail = statusOf('email')
  return {
    linked: statusOf('telegram') === 'active',
    watching,
    mailing: mail === 'active' ? 'yes' : mail === 'pending' ? 'pending' : 'no',
    hooked: statusOf('webhook') === 'active',
    alerted: alerts.data.length > 0,
  }
}

/** Buys a slot for one period, with credits paid in WFLR if there are too few. */
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

async function buyCredits(alice: Customer, topups: WorldParts['topups']): Promise<void> {
  const json = { asset: 'WFLR', credits: CREDITS }
  await alice.call('POST', '/topup', { json, status: 201, body: ANY_BODY })
  const topup = await topups.newest()
  if (topup === undefined) throw new Error('no top-up was made')
  await topups.pay(topup, topup.amountUnits)
  for (let waitedMs = 0; (await topups.state(topup)).creditedCredits === 0; waitedMs += LOOK_MS) {
    if (waitedMs > CREDIT_PATIENCE_MS) throw new Error('the payment is not credited')
    await wait(LOOK_MS)
  }
}

async function untilLooked(alice: Customer, id: number): Promise<void> {
  for (let waitedMs = 0; waitedMs <= LOOKED_PATIENCE_MS; waitedMs += LOOK_MS) {
    const path = `/watches/${id}`
    const { signalStates } = await alice.call('GET', path, { status: 200, body: Watch })
    if (signalStates.every(({ state }) => state === 'ok')) return
    await wait(LOOK_MS)
  }
  throw new Error('the watch does not look')
}

async function hasWatch(alice: Customer): Promise<boolean> {
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
    if (!isAnswer(error, 409)) throw error
  }
}

function isAnswer(error: unknown, status: number): boolean {
  return error instanceof UnexpectedAnswerError && error.received.startsWith(`${status} `)
}
