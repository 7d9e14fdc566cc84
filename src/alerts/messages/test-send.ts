import type { RecentTest, TestResult } from '#src/delivery/model.ts'
import { sendTest as deliver, type TestDeps, type TestExample } from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type ConsentRequest, confirmEmail } from '#src/recipients/consent.ts'
import type { DecryptedDestination } from '#src/recipients/destinations.ts'
import { usualSeverity } from '#src/watches/evaluate/usual-severity.ts'
import { findEventSource } from '#src/watches/events.ts'
import { findExampleAlert } from '#src/watches/manage/example-alert.ts'
import { exampleMessage, signalPageUrl } from './example.ts'

/** Event of the test for a recipient that has no watch yet. */
const EXAMPLE_EVENT = 'wallet-balance.moved'

/**
 * Sends a test: the message that the recipient's newest watch would send, about the watch's target and with
 * the last observed values.
 *
 * @param options `watchId`: the watch to use instead, if it notifies the recipient
 * @throws the errors of `sendTest` in `delivery/test-message.ts`
 */
export function sendTest(
  deps: TestDeps,
  caller: Caller,
  recipientId: number,
  { watchId, ...options }: { readonly evenIfOff?: boolean; readonly watchId?: number } = {},
): Promise<TestResult> {
  const example = (destination: DecryptedDestination) =>
    exampleFor(deps, caller, destination, watchId)
  return deliver(deps, caller, recipientId, { ...options, example })
}

/** Sends a test as `sendTest` does, but no second one of the same watch to a person within a minute. */
export function sendTestUnlessRecent(
  deps: TestDeps,
  caller: Caller,
  recipientId: number,
  { watchId, ...options }: { readonly evenIfOff?: boolean; readonly watchId?: number },
): Promise<TestResult | RecentTest> {
  const example = (destination: DecryptedDestination) =>
    exampleFor(deps, caller, destination, watchId)
  return deliver(deps, caller, recipientId, { ...options, example, isOnce: true })
}

/**
 * Confirms e-mails to a mailbox. The first confirmation sends a test e-mail, whose failure is only logged.
 *
 * @returns the state of the request; undefined when there is no such request
 */
export async function confirmMailbox(
  deps: TestDeps & { readonly log: Logger },
  code: string,
): Promise<ConsentRequest | undefined> {
  const consent = await confirmEmail(deps, code)
  if (consent?.first !== true) return consent
  const { recipientId, reader } = consent
  const owner = { wallet: reader.wallet, scopes: ['read', 'write'], via: 'page' } as const
  try {
    await sendTest(deps, owner, recipientId)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    deps.log.warn({ recipientId, code: error.code }, 'test mail after a confirmation was not sent')
  }
  return consent
}

async function exampleFor(
  { db, clock, publicUrl }: TestDeps,
  caller: Caller,
  destination: DecryptedDestination,
  watchId: number | undefined,
): Promise<TestExample> {
  const watch = await findExampleAlert({ db, clock }, caller, destination, watchId)
  const event = watch?.event ?? EXAMPLE_EVENT
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const { type, signal } = source
  const data = watch?.data ?? signal.examples[event] ?? {}
  const { locale, timezone } = destination
  const message = exampleMessage(
    {
      alertId: null,
      incidentId: null,
      watchId: watch?.id ?? null,
      watchLabel: watch?.label ?? null,
      event,
      severity: watch?.severity ?? usualSeverity(event, data),
      data,
      firedAt: clock.now(),
      link: signalPageUrl(publicUrl, type, signal.id),
      test: true,
    },
    { locale, timezone },
  )
  return { type, signal: signal.id, group: signal.group, data, message }
}
