import { domainToASCII } from 'node:url'

/** Maximum lengths in octets of an address, without its brackets, and of the part before the `@` (RFC 5321, 4.5.3.1). */
export const MAILBOX_LENGTH_MAX = 254
const LOCAL_LENGTH_MAX = 64
const HOST_LENGTH_MAX = 253

/**
 * Characters that no mailbox has, that end a header line, or that nobody sees: controls, blanks, invisible characters,
 * unassigned ones, and those that stand for a character that was lost.
 */
const FORBIDDEN = /[@<>()[\]\\,;:"\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\uFFFD]/u
/** Parts between single dots. */
const DOTTED = /^[^.]+(?:\.[^.]+)*$/
/** @see RFC 1123, section 2.1 */
const HOST_LABEL = /^(?!-)[a-z\d-]{1,63}(?<!-)$/i
/** A top-level domain is no number, and has two characters. */
const TOP_LABEL = /^[a-z][a-z\d-]*[a-z\d]$/i

/**
 * Whether mail can reach an address of this form: `local@host`, with a host name that can exist. Quoted local parts,
 * address literals and hosts without a dot are refused.
 */
export function isMailbox(text: string): boolean {
  const [local = '', host = '', ...rest] = text.split('@')
  return (
    rest.length === 0 &&
    Buffer.byteLength(text) <= MAILBOX_LENGTH_MAX &&
    Buffer.byteLength(local) <= LOCAL_LENGTH_MAX &&
    [local, host].every((part) => DOTTED.test(part) && !FORBIDDEN.test(part)) &&
    isMailHost(host)
  )
}

function isMailHost(host: string): boolean {
  const name = domainToASCII(host)
  const labels = name.split('.')
  const top = labels.at(-1) ?? ''
  return (
    labels.length > 1 &&
    isHostLength(name) &&
    labels.every((label) => HOST_LABEL.test(label)) &&
    TOP_LABEL.test(top) &&
    // These never exist (RFC 6761).
    !/^(?:invalid|localhost)$/i.test(top)
  )
}

/**
 * Whether a host name in ASCII, without a dot at its end, is short enough to be asked for: 253 characters, 63 in each
 * part, and no empty part.
 *
 * @see RFC 1035, section 2.3.4
 */
export function isHostLength(name: string): boolean {
  return (
    name.length <= HOST_LENGTH_MAX &&
    name.split('.').every((label) => label.length >= 1 && label.length <= 63)
  )
}
