/** The log lines of deliveries: those of an alert carry `alertId`. */

import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { SendTask, SendTaskResult } from '../sending/send-task.ts'

/** Fields that name a delivery, or an alert in a message that is only changed. */
interface DeliveryLogFields extends Record<string, unknown> {
  readonly deliveryId: string | undefined
  readonly alertId?: number
}

/**
 * Log fields for each delivery of a task or, if a message is only changed, for each alert in the message.
 */
export function logFieldsOfEach({
  rows,
  change,
  stored,
  channel,
  recipientId,
}: SendTask): readonly DeliveryLogFields[] {
  const common = { channel, recipientId }
  if (rows.length > 0) {
    return rows.map(({ id: deliveryId, alertId, attempts: attempt }) => ({
      deliveryId,
      ...(alertId !== null && { alertId }),
      attempt,
      ...common,
    }))
  }
  const deliveryId = change?.id
  const alertIds = [...(stored?.states.keys() ?? [])]
  if (alertIds.length === 0) return [{ deliveryId, ...common }]
  return alertIds.map((alertId) => ({ deliveryId, alertId, ...common }))
}

/** Logs the result of a recorded attempt. */
export function logAttemptResult(log: Logger, { task, attemptResult }: SendTaskResult): void {
  const phrase = task.change === undefined ? 'delivery attempted' : 'message changed'
  const result = {
    outcome: attemptResult.kind,
    ...(attemptResult.kind === 'delivered' && { statusCode: attemptResult.receipt.statusCode }),
    ...(attemptResult.kind === 'failed' && {
      statusCode: attemptResult.error.statusCode,
      reason: attemptResult.error.reason,
      isPermanent: attemptResult.error.permanent,
    }),
  }
  for (const about of logFieldsOfEach(task)) log.info({ ...about, ...result }, phrase)
}

/** Logs that the result of a task cannot be recorded. */
export function logUnrecorded(log: Logger, task: SendTask, error: unknown): void {
  const trace = loggableError(error)
  for (const about of logFieldsOfEach(task)) {
    log.error({ ...about, error: trace }, 'result of a delivery cannot be written')
  }
}
