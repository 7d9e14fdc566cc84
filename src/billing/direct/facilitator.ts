/** Payments sent by a facilitator, a server of x402 that the operator chose. Nothing that it says counts as a payment. */
import { z } from 'zod'
import type { AskFacilitator } from '#src/chain/payments/facilitator-client.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Settler, type SignedPayment, X402_VERSION } from './model.ts'

/** @see x402, `specs/x402-specification-v2.md`, section 7 */
const Verified = { schema: z.looseObject({ isValid: z.boolean() }), timeoutMs: 5000 }
const Settled = { schema: z.looseObject({ success: z.boolean() }), timeoutMs: 20_000 }

/** Asks a facilitator to check and to send authorized transfers. */
export function createFacilitator({
  ask,
  log,
}: {
  readonly ask: AskFacilitator
  readonly log: Logger
}): Settler {
  return {
    async check(payment, signal) {
      const answer = await ask('verify', bodyOf(payment), Verified, signal)
      if (!answer.ok) {
        log.warn({ reason: answer.reason }, 'facilitator did not check a payment')
        throw new AppError('upstream', 'settlement_unavailable')
      }
      return answer.value.isValid ? undefined : 'invalid_transaction_state'
    },
    async settle(payment, signal) {
      const answer = await ask('settle', bodyOf(payment), Settled, signal)
      const { from: payer, nonce } = payment.authorization
      // Whatever it says, the chain is asked: it may have sent the transfer, or not.
      const said = answer.ok ? String(answer.value.success) : answer.reason
      log.info({ payer, nonce, said }, 'facilitator was asked to send an authorized payment')
    },
  }
}

function bodyOf({ payload, offer }: SignedPayment) {
  return { x402Version: X402_VERSION, paymentPayload: payload, paymentRequirements: offer }
}
