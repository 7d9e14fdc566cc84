/**
 * Whether an `Accept` header admits a media type. Without a header everything is accepted.
 *
 * @param type such as `application/json`
 * @see RFC 9110, section 12.5.1
 */
export function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined) return true
  const [main] = type.split('/')
  return header.split(',').some((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    return !isRefused && [type, `${main}/*`, '*/*'].includes(range)
  })
}
