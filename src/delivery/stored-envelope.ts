import type { z } from 'zod'
import { type Envelope, StoredEnvelope } from '#src/channels/envelope.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'

/**
 * An envelope from the outbox. If a message lacks `isRecovery` and `canRecover`, they come from the
 * catalogue of events.
 */
export const DecodedEnvelope: z.ZodType<Envelope> = StoredEnvelope.transform(
  ({ message, items, ...envelope }) => ({
    ...envelope,
    message: withRole(message),
    ...(items && { items: items.map(withRole) }),
  }),
)

function withRole(message: z.output<typeof StoredEnvelope>['message']) {
  return { ...recoveryRoleOf(message.event), ...message }
}
