import type { Chain } from '#src/chain/chain.ts'
import { isSignedByAccount, transferCall } from '#src/chain/payments/authorizations.ts'
import type { SettlementAccount } from '#src/chain/payments/settlement-account.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type PaymentReason, type Settler, type SignedPayment, USDT0 } from './model.ts'

/** Sends authorized transfers from the service's own account, which pays the gas. */
export function createOwnSettler({
  account,
  chain,
  log,
}: {
  readonly account: SettlementAccount
  readonly chain: Pick<Chain, 'isContract'>
  readonly log: Logger
}): Settler {
  return {
    async check(payment, signal) {
      const reason = await checkSigner(chain, payment, signal)
      if (reason !== undefined) return reason
      // The token itself decides: about the balance, the nonce, and the signatures of contract wallets.
      const call = transferCall(payment.authorization, payment.signature)
      const isPossible = await account.wouldSucceed(call, signal)
      return isPossible ? undefined : 'invalid_transaction_state'
    },
    async settle({ authorization, signature }, signal) {
      const txHash = await account.send(transferCall(authorization, signature), signal)
      const { from: payer, nonce } = authorization
      log.info({ txHash, payer, nonce, from: account.address }, 'authorized payment sent')
    },
  }
}

/** Whether somebody else signed. Of a contract wallet only its token, or a facilitator, can tell. */
export async function checkSigner(
  chain: Pick<Chain, 'isContract'>,
  { authorization, signature }: SignedPayment,
  signal?: AbortSignal,
): Promise<PaymentReason | undefined> {
  const { name, version, chainId } = USDT0
  const domain = { name, version, chainId }
  if (await isSignedByAccount(authorization, domain, signature)) return undefined
  if (await chain.isContract(authorization.from, signal)) return undefined
  return 'invalid_exact_evm_payload_signature'
}
