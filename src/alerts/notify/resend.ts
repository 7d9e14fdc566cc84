import type { Db } from '#src/db/connection.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import { readRecipientsById } from '#src/recipients/service.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import { findAlert } from '../store.ts'
import type { NotifyDeps } from './deps.ts'
import { notificationOf, notifyRecipients } from './notify.ts'

/**
 * Writes another message about an alert to one recipient, as its settings are now. Whoever repeats it sends it again.
 *
 * @throws OperatorError when the alert, its watch or the recipient is gone, the recipient is off, or settings keep the
 * alert from it
 */
export async function resendAlert(
  deps: NotifyDeps,
  tx: Db,
  { alertId, recipientId }: { readonly alertId: number; readonly recipientId: number },
): Promise<void> {
  const row = await findAlert(tx, alertId)
  if (row === undefined) throw new OperatorError(`no alert ${alertId} is stored`)
  if (row.recoveryOf !== null) {
    throw new OperatorError(
      `alert ${alertId} is the end of alert ${row.recoveryOf}; resend that one`,
    )
  }
  const recipient = (await readRecipientsById(tx, [recipientId])).get(recipientId)
  if (recipient?.wallet !== row.wallet) {
    throw new OperatorError(`the wallet of alert ${alertId} has no recipient ${recipientId}`)
  }
  if (recipient.status !== 'active') {
    throw new OperatorError(`recipient ${recipientId} is ${recipient.status}; wake it first`)
  }
  const watch = (await listForNotification(tx, [row.watchId])).get(row.watchId)
  if (watch === undefined) throw new OperatorError(`watch ${row.watchId} of the alert was deleted`)
  const notification = { ...notificationOf(row, watch), only: new Set([recipientId]) }
  const notified = await notifyRecipients(deps, tx, [notification])
  if (notified.length === 0) {
    throw new OperatorError(
      `settings keep alert ${alertId} from recipient ${recipientId}; “explain” says which`,
    )
  }
}
