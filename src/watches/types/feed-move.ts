import { announceSignal, announceWatchType } from '../define.ts'

const priceMoveSignal = announceSignal({
  id: 'price-move',
  group: 'alerts',
  events: { alerts: ['feed-move.threshold'] },
})

/** Watches the USD price of one feed. @see specification, "Evaluation rules", 2 */
export const feedMove = announceWatchType({ name: 'feed-move', signals: [priceMoveSignal] })
