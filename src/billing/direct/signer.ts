/** Who signed an authorized payment. */
import type { Chain } from '#src/chain/chain.ts'
import { authorizationHash, isSignedByAccount } from '#src/chain/payments/authorizations.ts'
import { type PaymentReason, type SignedPayment, USDT0 } from './model.ts'

const { name, version, chainId } = USDT0
const DOMAIN = { name, version, chainId }

/** Whether the account of the payer signed by itself; contract wallets are asked by `checkSigner`. */
export function isSignedByPayer({ authorization, signature }: SignedPayment): Promise<boolean> {
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
