import { accountOperations } from './account.ts'
import { alertOperations } from './alerts.ts'
import { authOperations } from './auth.ts'
import { channelOperations } from './channels.ts'
import type { AnyOperation } from './define.ts'
import { discoveryOperations } from './discovery.ts'
import { messageOperations } from './messages.ts'
import { pricingOperations } from './pricing.ts'
import { providerOperations } from './providers.ts'
import { recipientOperations } from './recipients.ts'
import { settingsOperations } from './settings.ts'
import { statsOperations } from './stats.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { topupOperations } from './topups.ts'
import { watchOperations } from './watches.ts'

/** Every operation with a route, in the order of the specification. */
export const REGISTRY: readonly AnyOperation[] = [
  ...accountOperations,
  ...alertOperations,
  ...authOperations,
  ...channelOperations,
  ...messageOperations,
  ...discoveryOperations,
  ...pricingOperations,
  ...providerOperations,
  ...recipientOperations,
  ...settingsOperations,
  ...statsOperations,
  ...subscriptionOperations,
  ...topupOperations,
  ...watchOperations,
]
