/** Roles of a process; all of them by default. */
export const ROLES = ['api', 'bot', 'watcher', 'delivery'] as const

export type Role = (typeof ROLES)[number]
