import { Address } from '#src/kernel/units.ts'

/** A deep link into the private chat with the bot. @param username without `@` */
export function botLink(username: string, start: string): string {
  return `https://t.me/${username}?start=${start}`
}

/** The start parameter that begins a watch of a type on an address. */
export function watchStart(type: string, address: Address): string {
  return `n${address.slice(2).toLowerCase()}-${type}`
}

/** The watch that a start parameter begins; undefined for every other parameter. */
export function readWatchStart(
  start: string,
): { readonly type: string; readonly address: Address } | undefined {
  const [, digits, type] = /^n([0-9a-f]{40})-([a-z-]{1,22})$/.exec(start) ?? []
  const address = Address.safeParse(`0x${digits}`)
  return address.success && type !== undefined ? { type, address: address.data } : undefined
}

/** The start parameter that opens the list of subscriptions, where auto-renew is switched on. */
export const RENEWALS_START = 'renewals'

/** The start parameter that opens the renewal of a subscription, once. */
export function renewalStart(id: number): string {
  return `renew${id}`
}

/** The subscription whose renewal a start parameter opens; undefined for every other parameter. */
export function readRenewalStart(start: string): number | undefined {
  const id = /^renew(\d{1,9})$/.exec(start)?.[1]
  return id === undefined ? undefined : Number(id)
}

/** A group, and the topic in which a link into the private chat was pressed. */
export interface GroupPlace {
  readonly chatId: number
  readonly threadId: number | undefined
}

/** The start parameter that sets up a group in the private chat. */
export function groupStart({ chatId, threadId }: GroupPlace): string {
  return threadId === undefined ? `group${chatId}` : `group${chatId}-${threadId}`
}

/** The group that a start parameter names; undefined for every other parameter. */
export function readGroupStart(start: string): GroupPlace | undefined {
  const [, chatId, threadId] = /^group(-[1-9]\d{0,13})(?:-([1-9]\d{0,8}))?$/.exec(start) ?? []
  if (chatId === undefined) return undefined
  return { chatId: Number(chatId), threadId: threadId === undefined ? undefined : Number(threadId) }
}
