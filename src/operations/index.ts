import type { AnyOperation } from './define.ts'
import { accountOperations } from './rest/account.ts'
import { alertOperations } from './rest/alerts.ts'
import { authOperations } from './rest/auth.ts'
import { channelOperations } from './rest/channels.ts'
import { discoveryOperations } from './rest/discovery.ts'
import { maintenanceOperations } from './rest/maintenance.ts'
import { messageOperations } from './rest/message-preview.ts'
import { pricingOperations } from './rest/pricing.ts'
import { providerOperations } from './rest/providers.ts'
import { recipientOperations } from './rest/recipients.ts'
import { settingsOperations } from './rest/settings.ts'
import { statsOperations } from './rest/stats.ts'
import { subscriptionOperations } from './rest/subscriptions.ts'
import { topupOperations } from './rest/topups.ts'
import { watchOperations } from './rest/watches.ts'

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
  ...maintenanceOperations,
  ...statsOperations,
  ...subscriptionOperations,
  ...topupOperations,
  ...watchOperations,
]
