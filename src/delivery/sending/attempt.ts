import { DeliveryError, type IncidentState } from '#src/channels/define.ts'
import { Envelope } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS, type Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { DecryptedDestination, DecryptionResult } from '#src/recipients/destinations.ts'
import { unsubscribeUrl } from '#src/recipients/mail-links.ts'
import type { IncidentReader } from '../chats/chat-situation.ts'
import { logFieldsOfEach } from '../log/log-lines.ts'
import { canBeSentTo, isProvenBy, UNREADABLE_REASON } from '../rules.ts'
import type { AttemptResult, SendTask, SendTaskResult } from './send-task.ts'

interface Deps {
  readonly db: Db
  readonly incidentOf: IncidentReader
  readonly clock: Clock
  readonly log: Logger
  readonly quarantine: Quarantine
  readonly box: SecretBox
  readonly channels: Channels
  readonly publicUrl: string
}

/** Timeout of a destination whose last attempts got no response. */
const SHORT_TIMEOUT_MS = 5000

/**
 * Sends or changes one message once. Unreadable data fails immediately, without switching the destination
 * off.
 *
 * @param opened the destination; undefined if the recipient was deleted
 * @param isShort whether to use the shorter timeout, because the last attempts got no response
 */
export async function attemptTask(
  deps: Deps,
  task: SendTask,
  opened: DecryptionResult | undefined,
  { signal, isShort }: { readonly signal: AbortSignal; readonly isShort: boolean },
): Promise<SendTaskResult> {
  let isTest = false
  let incident: IncidentState | undefined
  const end = (attemptResult: AttemptResult): SendTaskResult => ({
    task,
    isTest,
    at: deps.clock.now(),
    attemptResult,
    ...(incident && { incident }),
  })
  try {
    if (task.change?.isReplaced) return end(await removeReplaced(deps, task, opened, signal))
    const envelope = readEnvelope(deps, task)
    isTest = envelope.message.test
    if (opened === undefined) return end({ kind: task.rows.length === 0 ? 'gone' : 'off' })
    if ('unreadable' in opened) throw unreadable(opened.unreadable)
    if (!canBeSentTo(opened.status, isTest)) return end({ kind: 'off' })
    const readable = checkedDestination(deps, task, opened)
    incident = await readIncident(deps, task, envelope)
    const how = { signal, isShort, incident }
    return end(await sendOrChange(deps, task, readable, envelope, how))
  } catch (error) {
    if (error instanceof DeliveryError) {
      const isProven = isProvenBy(error, task.rows, deps.clock.now())
      return end({ kind: 'failed', error: isProven ? error : unproven(error) })
    }
    if (signal.aborted) return end({ kind: 'aborted' })
    const trace = loggableError(error)
    for (const about of logFieldsOfEach(task))
      deps.log.error({ ...about, error: trace }, 'delivery broke')
    return end({
      kind: 'failed',
      error: new DeliveryError('internal', { isOurFault: true, cause: error }),
    })
  }
}

/** State of the message's incident, where the channel follows it. */
async function readIncident(
  { db, incidentOf }: Deps,
  { channel, wallet }: SendTask,
  { message: { incidentId } }: Envelope,
): Promise<IncidentState | undefined> {
  if (!CHANNELS[channel].followsIncident || incidentId === null) return undefined
  return await incidentOf(db, { wallet, incidentId })
}

/** Deletes a message that another one has replaced. */
async function removeReplaced(
  deps: Deps,
  task: SendTask,
  opened: DecryptionResult | undefined,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const isReadable = opened !== undefined && !('unreadable' in opened)
  if (!isReadable || !canBeSentTo(opened.status, false)) return { kind: 'gone' }
  const { destination, locale } = checkedDestination(deps, task, opened)
  const { channel: key, change } = task
  const context = { now: deps.clock.now(), signal, locale }
  if (change !== undefined) {
    await deps.channels[key].remove?.(destination, change.messageId, context)
  }
  return { kind: 'gone' }
}

/** A permanent failure as one that is tried again. */
function unproven({ reason, statusCode, cause }: DeliveryError): DeliveryError {
  return new DeliveryError(reason, { ...(statusCode !== undefined && { statusCode }), cause })
}

/** @throws DeliveryError when the envelope is malformed */
function readEnvelope({ quarantine }: Deps, task: SendTask): Envelope {
  const { envelope, rows, change } = task
  const result = Envelope.safeParse(envelope)
  if (result.success) return result.data
  const id = rows[0]?.id ?? change?.id ?? ''
  quarantine.add('delivery', id, result.error, logFieldsOfEach(task)[0])
  throw unreadable(result.error)
}

/** @throws DeliveryError when the channel's schema does not accept the destination */
function checkedDestination(
  { channels, quarantine }: Deps,
  task: SendTask,
  opened: DecryptedDestination,
): DecryptedDestination {
  const result = channels[task.channel].destination.safeParse(opened.destination)
  if (result.success) return opened
  quarantine.add('destination', opened.id, result.error, logFieldsOfEach(task)[0])
  throw unreadable(result.error)
}

function unreadable(cause: unknown): DeliveryError {
  return new DeliveryError(UNREADABLE_REASON, { permanent: true, isOurFault: true, cause })
}

async function sendOrChange(
  deps: Deps,
  { channel: key, change, rows, wallet, answeredMessageIds = [] }: SendTask,
  opened: DecryptedDestination,
  envelope: Envelope,
  {
    signal,
    isShort,
    incident,
  }: {
    readonly signal: AbortSignal
    readonly isShort: boolean
    readonly incident: IncidentState | undefined
  },
): Promise<AttemptResult> {
  const channel = deps.channels[key]
  const url = unsubscribeUrl(deps, opened)
  const known = answeredMessageIds.filter((id) => id !== undefined)
  const [answersMessageId] = answeredMessageIds.length === 1 ? known : []
  const context = {
    attempt: Math.max(1 + (change?.revisions ?? 0), ...rows.map(({ attempts }) => attempts)),
    now: deps.clock.now(),
    signal,
    wallet,
    ...(opened.isReceiveOnly && { isReceiveOnly: true }),
    ...(opened.follows !== null && { follows: opened.follows }),
    ...(incident && { incident }),
    ...(isShort && { timeoutMs: SHORT_TIMEOUT_MS }),
    ...(answersMessageId !== undefined && { answersMessageId }),
    ...(known.length > 0 && { answeredMessageIds: known }),
    ...(change?.isLonger && { isLonger: true }),
    ...(change?.rings && { rings: true }),
    ...(change?.isAwaited && { isAwaited: true }),
    ...(url !== undefined && { unsubscribeUrl: url }),
  }
  if (change === undefined) {
    return { kind: 'delivered', receipt: await channel.send(opened.destination, envelope, context) }
  }
  if (channel.edit === undefined) return { kind: 'gone' }
  const { messageId, state } = change
  const receipt = await channel.edit(opened.destination, messageId, envelope, state, context)
  return receipt.messageId === undefined ? { kind: 'gone' } : { kind: 'delivered', receipt }
}

/**
 * Response time in milliseconds; `none` without a response. A refusal is a response, too; undefined for a
 * fault of this service.
 */
export function responseTime(
  attemptResult: AttemptResult,
  latencyMs: number,
): number | 'none' | undefined {
  if (attemptResult.kind === 'delivered') return latencyMs
  if (attemptResult.kind !== 'failed') return undefined
  const { statusCode, isOurFault } = attemptResult.error
  if (statusCode !== undefined) return latencyMs
  return isOurFault ? undefined : 'none'
}
