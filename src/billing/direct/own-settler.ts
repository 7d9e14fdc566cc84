import type { Chain } from '#src/chain/chain.ts'
import {
  authorizationHash,
  isSignedByAccount,
  transferCall,
} from '#src/chain/payments/authorizations.ts'
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
  readonly chain: Pick<Chain, 'isSignedByContract'>
  readonly log: Logger
}): Settler {
  return {
    async check(payment, signal) {
      const reason = await checkSigner(chain, payment, signal)
      if (reason !== undefined) return reason
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

const { name, version, chainId } = USDT0
const DOMAIN = { name, version, chainId }

function isSignedByPayer({ authorization, signature }: SignedPayment): Promise<boolean> {
  return isSignedByAccount(authorization, DOMAIN, signature)
}

/** Whether somebody else signed. Else nonces that others have used would count as their payments. */
export async function checkSigner(
  chain: Pick<Chain, 'isSignedByContract'>,
  payment: SignedPayment,
  signal?: AbortSignal,
): Promise<PaymentReason | undefined> {
  if (await isSignedByPayer(payment)) return undefined
  const { authorization, signature } = payment
  const hash = authorizationHash(authorization, DOMAIN)
  const signed = { address: authorization.from, hash, signature }
  if (await chain.isSignedByContract(signed, signal)) return undefined
  return 'invalid_exact_evm_payload_signature'
}
