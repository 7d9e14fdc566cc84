/**
 * Escapes a property name as one token of a JSON pointer.
 * @see RFC 6901, section 3
 */
export function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}
