import { encodeFunctionData } from 'viem/utils'
import { ROUTER_ABI } from '#src/chain/contracts.ts'
import type { Topup } from './model.ts'
import { xrpWalletLink } from './rules.ts'

/**
 * The remainder of a partly paid quote, as a quote with the same destination and reference. The remainder
 * is credited at the same price until the quote expires. Undefined when no amount or no time is left.
 */
export function remainderOf(topup: Topup, now: Date): Topup | undefined {
  const { status, paidAmount, expiresAt, handle, transaction, contractWallet, approval } = topup
  const left = topup.amount - (paidAmount ?? 0n)
  if (status !== 'credited' || left <= 0n || now >= expiresAt) return undefined
  const amount = left
  if (topup.destinationTag !== null) {
    const pageQr = xrpWalletLink(topup.payTo, topup.destinationTag, amount)
    return { ...topup, amount, pageQr }
  }
  if (approval === null) {
    return {
      ...topup,
      amount,
      transaction: transaction && { ...transaction, value: amount },
      contractWallet: contractWallet && { ...contractWallet, value: amount },
    }
  }
  const args = [handle, approval.token, amount] as const
  const data = encodeFunctionData({ abi: ROUTER_ABI, functionName: 'pay', args })
  return {
    ...topup,
    amount,
    transaction: transaction && { ...transaction, data },
    approval: { ...approval, amount },
  }
}
