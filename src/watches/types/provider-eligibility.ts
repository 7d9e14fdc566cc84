import { announceSignal, announceWatchType } from '../define.ts'

const providerStatusSignal = announceSignal({
  id: 'provider-status',
  group: 'alerts',
  events: {
    alerts: ['provider.unregistered', 'provider.eligibility-lost'],
    recovery: 'provider.recovered',
  },
})

/** Watches whether a provider is registered and eligible. @see specification, "Evaluation rules", 3 */
export const providerEligibility = announceWatchType({
  name: 'provider-eligibility',
  signals: [providerStatusSignal],
})
