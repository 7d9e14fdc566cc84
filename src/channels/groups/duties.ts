/** Duties of a data provider in a voting round, as alerts name them. Pure. */

/** Events of duties that a provider missed in a voting round, by protocol. */
export const DUTIES = {
  ftso: ['fsp.ftso-commit', 'fsp.ftso-reveal', 'fsp.ftso-signature'],
  fdc: ['fsp.fdc-bitvote', 'fsp.fdc-signature'],
} as const
export const PROTOCOLS = ['ftso', 'fdc'] as const
export const ALL_DUTIES: readonly string[] = Object.values(DUTIES).flat()

/** The duties all of which failed in an outage with this cause. */
export function dutiesOf(cause: 'silent' | 'ftso' | 'fdc'): readonly string[] {
  return cause === 'silent' ? ALL_DUTIES : DUTIES[cause]
}

/** Whether an event is about a duty of a voting round: that a provider failed it, or fulfils it again. */
export function isAboutDuty(event: string): boolean {
  return isFailedDuty(failedEventOf(event))
}

/** The event that an event is the recovery of, or itself. */
export function failedEventOf(event: string): string {
  return event.replace(/\.recovered$/, '')
}

/** Whether an event says that a provider failed a duty of a voting round. */
export function isFailedDuty(event: string): boolean {
  return ALL_DUTIES.includes(event)
}
