import { TRIAL_DAYS, TRIAL_SLOTS } from '../price-list.ts'

const DAY_MS = 86_400_000

/** When a trial started now will end: 14 days of 24 hours later. */
export function trialEnd(startedAt: Date): Date {
  return new Date(startedAt.getTime() + TRIAL_DAYS * DAY_MS)
}

/** Slots the trial gives at `now`: none before it is started and after it has ended. */
export function trialSlots(trial: { readonly endsAt: Date } | undefined, now: Date): number {
  return trial !== undefined && now < trial.endsAt ? TRIAL_SLOTS : 0
}
