/** The steps of a payment for the pay page: what the payer does, then what the chain does. */
import type { Topup, TopupStatus } from '#src/billing/topups/model.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { roundedAmountText, slotsText } from './order.ts'

/** One step. The page's script finds it by its name. */
export interface PayStep {
  readonly name: 'connect' | 'approve' | 'send' | 'confirm' | 'credit' | 'slots'
  readonly text: string
  readonly state: 'open' | 'next' | 'done'
  /** Whether the step exists only with a wallet in the browser, and therefore only with scripts. */
  readonly isScripted?: boolean
}

const SEEN: readonly TopupStatus[] = ['submitted', 'confirming', 'credited']

/**
 * Lists the steps.
 *
 * @param due the top-up, or its remainder
 * @param isOpen whether there is something to pay now
 */
export function payStepsOf(
  t: Translate,
  topup: Topup,
  { due, isOpen }: { readonly due: Topup; readonly isOpen: boolean },
): readonly PayStep[] {
  const isSeen = SEEN.includes(topup.status)
  // The remainder of a credited payment is paid like a new top-up.
  if (!isOpen && !isSeen) return []
  const isCredited = topup.status === 'credited' && !isOpen
  const isPaid = isSeen && !isOpen
  const amount = roundedAmountText(t, due, due.amount)
  const isWallet = topup.transaction !== null && isOpen
  const slots = topup.then === null ? undefined : slotsText(t, topup.then)
  return [
    ...(isWallet ? [scripted('connect', t('pages:pay.step.connect'))] : []),
    ...(isWallet && topup.approval !== null
      ? [scripted('approve', t('pages:pay.step.approve', { amount }))]
      : []),
    { name: 'send', text: t('pages:pay.title', { amount }), state: isPaid ? 'done' : 'next' },
    {
      name: 'confirm',
      text: confirmText(t, topup),
      state: isCredited ? 'done' : isPaid ? 'next' : 'open',
    },
    {
      name: 'credit',
      text: t('pages:pay.progress.credited'),
      state: isCredited ? 'done' : 'open',
    },
    ...(slots === undefined
      ? []
      : [
          {
            name: 'slots' as const,
            text: slots,
            state: topup.then?.status === 'done' ? ('done' as const) : ('open' as const),
          },
        ]),
  ]
}

function scripted(name: 'connect' | 'approve', text: string): PayStep {
  return { name, text, state: 'open', isScripted: true }
}

/** Text of the step of the confirmations. */
export function confirmText(t: Translate, topup: Topup): string {
  const { status, confirmations, requiredConfirmations: total } = topup
  if (status !== 'confirming') return t('pages:pay.step.confirm')
  const count = Math.min(confirmations, total)
  return t('pages:pay.progress.confirming', { count, total })
}
