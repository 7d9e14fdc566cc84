import { z } from 'zod'
import { ANY_BODY, type Customer, UnexpectedAnswerError } from '../customer.ts'
import { pollUntil } from './poll.ts'

/** Requests of Alice's program, one function per step, with checks. */

const Terms = z.object({ currentVersion: z.string(), accepted: z.boolean() })
const Trial = z.object({ slots: z.literal(1) })
const ChannelState = z.object({ status: z.string().nullable() })
const Channels = z.object({ data: z.array(ChannelState.extend({ key: z.string() })) })
const Hooked = z.object({ status: z.literal('active'), secret: z.string().startsWith('whsec_') })
const Tested = z.object({ status: z.literal('delivered'), statusCode: z.literal(200) })
const Link = z.object({ url: z.url() })
const Watch = z.object({
  id: z.int(),
  status: z.string(),
  signalStates: z.array(z.object({ state: z.string() })),
})
const Watches = z.object({ data: z.array(z.object({ id: z.int() })) })
const Alerts = z.object({
  data: z.array(
    z.object({
      deliveries: z.array(z.object({ channel: z.string(), status: z.string() })),
    }),
  ),
})

const TERMS = '/account/terms'

/** Reads the terms, which are not accepted yet, and accepts them. */
export async function acceptTerms(alice: Customer): Promise<void> {
  const before = Terms.extend({ accepted: z.literal(false) })
  const { currentVersion } = await alice.call('GET', TERMS, { status: 200, body: before })
  const after = Terms.extend({ accepted: z.literal(true) })
  const json = { version: currentVersion }
  await alice.call('POST', TERMS, { json, status: 200, body: after })
}

/** Starts the trial, which gives one slot. */
export async function startTrial(alice: Customer): Promise<void> {
  await alice.call('POST', '/subscriptions/trial', { status: 201, body: Trial })
}

/** Adds a mailbox, which waits for its reader's consent. */
export async function setUpMailbox(alice: Customer, address: string): Promise<void> {
  const body = ChannelState.extend({ status: z.literal('pending') })
  await alice.call('PUT', '/channels/email', { json: { address }, status: 200, body })
}

/**
 * Adds a webhook.
 * @returns its secret
 */
export async function setUpHook(alice: Customer, url: string): Promise<string> {
  const wanted = { json: { url }, status: 200, body: Hooked }
  const { secret } = await alice.call('PUT', '/channels/webhook', wanted)
  return secret
}

/** Sends a test to the webhook, which accepts it. */
export async function testHook(alice: Customer): Promise<void> {
  await alice.call('POST', '/channels/webhook/test', { status: 200, body: Tested })
}

/** A one-time link for a chat. */
export async function makeChatLink(alice: Customer): Promise<string> {
  const wanted = { json: {}, status: 201, body: Link }
  const { url } = await alice.call('POST', '/recipients/telegram-link', wanted)
  return url
}

/**
 * Checks the status of a channel.
 * @throws UnexpectedAnswerError
 */
export async function checkChannel(alice: Customer, key: string, status: string): Promise<void> {
  const { data } = await alice.call('GET', '/channels', { status: 200, body: Channels })
  const channel = data.find((listed) => listed.key === key)
  if (channel?.status === status) return
  throw new UnexpectedAnswerError(`the channel ${key} to be ${status}`, JSON.stringify(channel))
}

/**
 * Watches a balance in FLR and waits for the baseline: only later changes count.
 * @returns its id
 */
export async function watchBalance(
  alice: Customer,
  watch: { readonly label: string; readonly address: string; readonly threshold: string },
): Promise<number> {
  const { label, address, threshold } = watch
  const json = {
    type: 'wallet-balance',
    label,
    target: { address, asset: 'FLR' },
    settings: { threshold },
  }
  const { id } = await alice.call('POST', '/watches', { json, status: 201, body: Watch })
  await pollUntil(
    'the watch to have looked once',
    () => alice.call('GET', `/watches/${id}`, { status: 200, body: Watch }),
    ({ signalStates }) => signalStates.every(({ state }) => state === 'ok'),
  )
  return id
}

/**
 * Waits for the status of a watch.
 * @throws UnexpectedAnswerError on timeout
 */
export async function checkWatch(alice: Customer, id: number, status: string): Promise<void> {
  await pollUntil(
    `the watch to be ${status}`,
    () => alice.call('GET', `/watches/${id}`, { status: 200, body: Watch }),
    (watch) => watch.status === status,
  )
}

/** Waits until the watch's only alert is delivered everywhere. */
export async function waitForDeliveries(alice: Customer, id: number): Promise<void> {
  await pollUntil(
    'one alert, delivered by email, telegram and webhook',
    () => alice.call('GET', `/alerts?watchId=${id}`, { status: 200, body: Alerts }),
    (page) => {
      const deliveries = page.data.flatMap((alert) => alert.deliveries)
      const ways = deliveries.map(({ channel, status }) => `${channel} ${status}`).sort()
      const wanted = ['email delivered', 'telegram delivered', 'webhook delivered']
      return page.data.length === 1 && ways.join() === wanted.join()
    },
  )
}

/** Deletes a watch, which is gone afterwards. */
export async function deleteWatch(alice: Customer, id: number): Promise<void> {
  await alice.call('DELETE', `/watches/${id}`, { status: 204, body: ANY_BODY })
  await alice.call('GET', `/watches/${id}`, { status: 404, body: ANY_BODY })
  const { data } = await alice.call('GET', '/watches', { status: 200, body: Watches })
  if (data.length > 0) throw new UnexpectedAnswerError('no watches', JSON.stringify(data))
}
