import { ALERT_ID, HANDLE, PROVIDER, RECIPIENT, SUBSCRIPTION, TOKEN_ID, WATCH } from './story.ts'

/** Values of the path, and of required query parameters, in the example of an operation; by its id. */
export const PARAMETERS: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  deleteAlert: { id: ALERT_ID },
  getAlertEvidence: { id: ALERT_ID },
  acknowledge: { id: ALERT_ID },
  revokeToken: { id: TOKEN_ID },
  configureChannel: { key: 'email' },
  removeChannel: { key: 'email' },
  testChannel: { key: 'email' },
  getProviderFsp: { provider: PROVIDER },
  getProviderMetrics: { provider: PROVIDER },
  updateRecipient: { id: RECIPIENT.id },
  deleteRecipient: { id: RECIPIENT.id },
  testRecipient: { id: RECIPIENT.id },
  quoteSubscription: { quantity: SUBSCRIPTION.quantity, periods: SUBSCRIPTION.periods },
  quoteRenewal: { id: SUBSCRIPTION.id },
  renewSubscription: { id: SUBSCRIPTION.id },
  getTopup: { handle: HANDLE },
  confirmTopup: { handle: HANDLE },
  getWatchType: { type: 'wallet-balance' },
  getWatch: { id: WATCH.id },
  updateWatch: { id: WATCH.id },
  deleteWatch: { id: WATCH.id },
}
