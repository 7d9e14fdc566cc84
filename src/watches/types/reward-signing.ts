import { announceSignal, announceWatchType } from '../define.ts'

const rewardSigningSignal = announceSignal({
  id: 'reward-signing',
  group: 'alerts',
  events: {
    alerts: [
      'signing.uptime-open',
      'signing.rewards-open',
      'signing.rewards-reminder',
      'signing.missed',
    ],
    recovery: 'signing.done',
  },
})

/** Watches a provider's votes on uptime and rewards. @see specification, "Evaluation rules", 5 */
export const rewardSigning = announceWatchType({
  name: 'reward-signing',
  signals: [rewardSigningSignal],
})
