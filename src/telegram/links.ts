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
