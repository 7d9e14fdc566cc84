/** Groups of signals, in display order. */
export const SIGNAL_GROUPS = [
  'alerts',
  'ftso',
  'fdc',
  'offences',
  'transactions',
  'fast-updates',
  'registration',
] as const
export type SignalGroup = (typeof SIGNAL_GROUPS)[number]
