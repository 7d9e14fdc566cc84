import {
  ban,
  deleteAccountCommand,
  exportCommand,
  unban,
  walletCommand,
} from './commands/accounts.ts'
import { announce, explainCommand, resend, wakeRecipient } from './commands/messages.ts'
import { credit, matchPaymentCommand, refund, runningOut, unmatched } from './commands/money.ts'
import type { AnyCommand } from './define.ts'

/** Every command of `npm run admin`. */
export const REGISTRY: readonly AnyCommand[] = [
  walletCommand,
  explainCommand,
  unmatched,
  runningOut,
  exportCommand,
  credit,
  refund,
  matchPaymentCommand,
  ban,
  unban,
  deleteAccountCommand,
  resend,
  wakeRecipient,
  announce,
]
