import { acceptTerms, getAccount, getTerms } from './account.ts'
import {
  acknowledge,
  deleteAlert,
  deleteAlerts,
  exportAlerts,
  getAlertEvidence,
  listAlerts,
} from './alerts.ts'
import { createChallenge, exchangeToken, listTokens, revokeToken } from './auth.ts'
import { configureChannel, listChannels, removeChannel, testChannel } from './channels.ts'
import type { AnyOperation } from './define.ts'
import { getOpenApi } from './discovery.ts'
import { previewMessage } from './messages.ts'
import { getPricing } from './pricing.ts'
import { getProviderFsp } from './providers.ts'
import {
  createRecipient,
  createTelegramLink,
  deleteRecipient,
  listRecipients,
  testRecipient,
  updateRecipient,
} from './recipients.ts'
import { getSettings, replaceSettings } from './settings.ts'
import { getStats } from './stats.ts'
import {
  createSubscription,
  listSubscriptions,
  quoteSubscription,
  startTrial,
  updateSubscriptions,
} from './subscriptions.ts'
import { confirmTopup, createTopup, getTopup } from './topups.ts'
import {
  backtestWatch,
  createWatch,
  deleteWatch,
  getWatch,
  listWatches,
  updateWatch,
} from './watches.ts'

/** Every operation with a route, in the order of the specification. */
export const REGISTRY: readonly AnyOperation[] = [
  getAccount,
  getTerms,
  acceptTerms,
  listAlerts,
  deleteAlerts,
  deleteAlert,
  exportAlerts,
  getAlertEvidence,
  acknowledge,
  createChallenge,
  exchangeToken,
  listTokens,
  revokeToken,
  listChannels,
  configureChannel,
  removeChannel,
  testChannel,
  previewMessage,
  getOpenApi,
  getPricing,
  getProviderFsp,
  listRecipients,
  createRecipient,
  updateRecipient,
  deleteRecipient,
  testRecipient,
  createTelegramLink,
  getSettings,
  replaceSettings,
  getStats,
  listSubscriptions,
  createSubscription,
  updateSubscriptions,
  quoteSubscription,
  startTrial,
  createTopup,
  getTopup,
  confirmTopup,
  listWatches,
  createWatch,
  backtestWatch,
  getWatch,
  updateWatch,
  deleteWatch,
]
