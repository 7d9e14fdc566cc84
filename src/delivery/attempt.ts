import { type Channels, DeliveryError, Envelope } from '#src/channels/define.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { traceOf } from '#src/kernel/trace.ts'
import type { OpenDestination } from '#src/recipients/destinations.ts'
import { unsubscribeUrl } from '#src/recipients/mail-links.ts'
import { canBeSentTo } from './rules.ts'
import type { Ended, Ending, Task } from './task.ts'

interface Deps {
  readonly clock: Clock
  readonly log: Logger
  readonly box: SecretBox
  readonly channels: Channels
  readonly publicUrl: string
}

/**
 * Sends or changes one message, once.
 *
 * @param opened undefined: the recipient is gone
 */
export async function attempt(
  deps: Deps,
  task: Task,
  opened: OpenDestination | undefined,
  signal: AbortSignal,
): Promise<Ended> {
  let isTest = false
  const end = (ending: Ending): Ended => ({ task, isTest, at: deps.clock.now(), ending })
  try {
    const envelope = Envelope.parse(task.envelope)
    isTest = envelope.message.test
    if (opened === undefined || !canBeSentTo(opened.status, isTest)) return end({ kind: 'off' })
    return end(await sendOrChange(deps, task, opened, envelope, signal))
  } catch (error) {
    if (error instanceof DeliveryError) return end({ kind: 'failed', error })
    if (signal.aborted) return end({ kind: 'broken_off' })
    const deliveryId = task.rows[0]?.id ?? task.change?.id
    deps.log.error({ deliveryId, channel: task.channel, error: traceOf(error) }, 'delivery broke')
    return end({
      kind: 'failed',
      error: new DeliveryError('internal', { ours: true, cause: error }),
    })
  }
}

async function sendOrChange(
  deps: Deps,
  { channel: key, change, rows, wallet, answersMessageId }: Task,
  opened: OpenDestination,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<Ending> {
  const channel = deps.channels[key]
  const url = unsubscribeUrl(deps, opened)
  const context = {
    attempt: Math.max(1, ...rows.map(({ attempts }) => attempts)),
    now: deps.clock.now(),
    signal,
    wallet,
    ...(answersMessageId !== undefined && { answersMessageId }),
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
