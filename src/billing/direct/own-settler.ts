import { transferCall } from '#src/chain/payments/authorizations.ts'
import type { SettlementAccount } from '#src/chain/payments/settlement-account.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Settler, SignedPayment } from './model.ts'
import { isSignedByPayer } from './signer.ts'

/** Sends authorized transfers from the service's own account, which pays the gas. */
export function createOwnSettler({
  account,
  log,
}: {
  readonly account: SettlementAccount
  readonly log: Logger
}): Settler {
  return {
    async check(payment, signal) {
      // The token itself decides about the balance and the nonce.
      const isPossible = await account.wouldSucceed(await callOf(payment), signal)
      return isPossible ? undefined : 'invalid_transaction_state'
    },
    async settle(payment, signal) {
      const txHash = await account.send(await callOf(payment), signal)
      const { from: payer, nonce } = payment.authorization
      log.info({ txHash, payer, nonce, from: account.address }, 'authorized payment sent')
    },
  }
}

async function callOf(payment: SignedPayment): Promise<ReturnType<typeof transferCall>> {
  return transferCall(payment.authorization, payment.signature, await isSignedByPayer(payment))
}
