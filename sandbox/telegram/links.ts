import { isIPv6 } from 'node:net'

/** A valid link, or the reason why it is invalid. */
export type CheckedLink =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly reason: string }

/**
 * Checks a link of a button or a text: http and https to a host with a dot or an IP address, and Telegram's
 * own schemes. A text without `://` is read as an http link, so `ethereum:0x…@14` fails as a host without a
 * dot.
 *
 * @see TDLib, `LinkManager::check_link_impl` and `parse_url`
 */
export function checkLink(link: string, options: { httpsOnly?: boolean } = {}): CheckedLink {
  const ownScheme = /^(tg|ton|tonsite):(?:\/\/)?/i.exec(link)
  const parsed = parseUrl(ownScheme ? link.slice(ownScheme[0].length) : link)
  if (!parsed.ok) return parsed
  const { protocol, host, userinfo, port, rest } = parsed
  if (options.httpsOnly && (protocol !== 'https' || ownScheme)) {
    return refused('Only HTTPS links are allowed')
  }
  if (ownScheme) {
    const scheme = ownScheme[1]?.toLowerCase() ?? ''
    if (protocol === 'https' || userinfo || port) {
      return refused(scheme === 'tg' ? 'Wrong tg URL' : 'Wrong ton URL')
    }
    if (!(scheme === 'tonsite' ? /^[\w.-]+$/ : /^[\w-]+$/).test(host)) {
      return refused('Unallowed characters in URL host')
    }
    return { ok: true, url: `${scheme}://${host}${rest.replace(/^\/\?/, '?')}` }
  }
  if (!host.includes('.') && !host.startsWith('[')) return refused('Wrong HTTP URL')
  return {
    ok: true,
    url: `${protocol}://${userinfo ? `${userinfo}@` : ''}${host}${port ? `:${port}` : ''}${rest}`,
  }
}

interface ParsedUrl {
  readonly ok: true
  readonly protocol: 'http' | 'https'
  readonly userinfo: string
  readonly host: string
  readonly port: number
  readonly rest: string
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason }
}

function parseUrl(url: string): ParsedUrl | { readonly ok: false; readonly reason: string } {
  const scheme = /^([^:/?#@[\]]*):\/\//.exec(url)
  const protocol = scheme ? scheme[1]?.toLowerCase() : 'http'
  if (protocol !== 'http' && protocol !== 'https') return refused('Unsupported URL protocol')
  const [, authority = '', tail = ''] =
    /^([^/?#]*)([\s\S]*)$/.exec(url.slice(scheme?.[0].length ?? 0)) ?? []

  const portText = /^.+:([^:\]@]*)$/s.exec(authority)?.[1]
  const port = portText === undefined ? 0 : Number(portText)
  if (portText !== undefined && !(/^\d+$/.test(portText) && port >= 1 && port <= 65_535)) {
    return refused('Wrong port number specified in the URL')
  }
  const named = portText === undefined ? authority : authority.slice(0, -portText.length - 1)
  const at = named.lastIndexOf('@')
  const userinfo = at < 0 ? '' : named.slice(0, at)
  const host = named.slice(at + 1).toLowerCase()

  if (host.startsWith('[') && host.endsWith(']')) {
    if (!isIPv6(host.slice(1, -1))) return refused('Wrong IPv6 address specified in the URL')
  } else {
    if (host === '') return refused('URL host is empty')
    if (host === '.') return refused('Host is invalid')
    const wrong = wrongPart(host, 'host') ?? wrongPart(userinfo.replaceAll(':', ''), 'userinfo')
    if (wrong !== undefined) return refused(wrong)
  }
  const trimmed = tail.trimEnd()
  const path = trimmed.startsWith('/') ? trimmed : `/${trimmed}`
  const rest = path.replace(/\s/g, (space) => encodeURIComponent(space))
  return { ok: true, protocol, userinfo, host, port, rest }
}

function wrongPart(part: string, name: string): string | undefined {
  const decoded = part.replace(/%[0-9a-f]{2}/gi, '')
  if (decoded.includes('%')) return `Wrong percent-encoded symbol in URL ${name}`
  return /^[\w.!$,~*'();&+=\-\u0080-\uffff]*$/.test(decoded)
    ? undefined
    : `Disallowed character in URL ${name}`
}
