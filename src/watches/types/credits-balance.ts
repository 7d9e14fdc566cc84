import { announceSignal, announceWatchType } from '../define.ts'

const creditsThresholdSignal = announceSignal({
  id: 'credits-threshold',
  group: 'alerts',
  events: { alerts: ['credits.low-balance'], recovery: 'credits.recovered' },
})

/** Watches the wallet's own credits. @see specification, "Evaluation rules", 4 */
export const creditsBalance = announceWatchType({
  name: 'credits-balance',
  signals: [creditsThresholdSignal],
})
