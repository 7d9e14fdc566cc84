/**
 * Text that no client turns into anything to press: links, addresses of e-mails, names of accounts, hashtags, cashtags,
 * commands, phone numbers. People read it as before.
 *
 * Names and texts that strangers choose, such as the symbol of a token, are shown in messages. Chats, mailboxes and
 * pagers look for links in every text, so escaping markup does not stop them.
 */

/** Word joiner: invisible, no part of a link or name in any client, and no place to break a line. */
const JOINER = '\u2060'

/**
 * Places at which a client would see the beginning or the inside of something to press. A joiner is put behind the
 * match.
 */
const PLACES = new RegExp(
  [
    // A scheme, with or without slashes: `https://`, `tg://`, `mailto:`, `tel:`.
    ':(?=//)',
    '(?<=[A-Za-z][A-Za-z0-9+.-]{1,30}):(?=[^\\s:/\\u2060-\\u2069])',
    // A domain; the dots of Asian keyboards are dots of a domain, too.
    '[.\\uff0e\\uff61](?=\\p{L})',
    '(?<=[A-Za-z0-9-])\\u3002(?=[A-Za-z])',
    // Accounts and e-mails, hashtags with a letter, cashtags.
    '[@\\uff20](?=[\\p{L}\\p{N}_])',
    '[#\\uff03](?=[\\p{N}\\p{M}_]*[\\p{L}_])',
    '\\$(?=[A-Za-z]|1INCH)',
    // A command; behind a letter or a digit it is part of a word, such as `FLR/USD`.
    '(?<![\\p{L}\\p{N}_/<>])/(?=[\\p{L}\\p{N}_])',
  ].join('|'),
  'gu',
)

/** IPv4 addresses; longer groups of digits are those of an amount. */
const IPV4 =
  /(?<![\d.,])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\d|[.,]\d)/g

/**
 * Phone numbers: international ones, groups of digits as they are usual, and long numbers. Amounts have separators
 * every three digits and dates shorter groups; numbers of blocks and rounds are shorter.
 */
const PHONE =
  /(?:(?<![\p{L}\p{N}_])\+[\d(][\d\s()./-]{5,}\d|(?<![\p{L}\p{N}_.,])(?:\(\d{2,5}\)[\s./-]?\d[\d\s/-]{3,}\d|\d{3}-\d{4}|\d{2,5}[\s-]\d{3,4}[\s-]\d{3,4}|\d{3}\.\d{3}\.\d{4}|\d{10,15}))(?![\p{L}\p{N}_]|[.,]\d)/gu

/** Makes a text inert; see above. A text that is inert already stays as it is. */
export function inertText(text: string): string {
  return text
    .replace(PHONE, (number) => [...number].join(JOINER))
    .replace(IPV4, (address) => address.replaceAll('.', `.${JOINER}`))
    .replace(PLACES, `$&${JOINER}`)
}

/** Elements that clients do not search, and links that show their address, which people copy; tags; text. */
const PIECES = /<(code|pre)\b.*?<\/\1>|<a href="([^"]*)">\2<\/a>|<[^>]*>|[^<]+/gs

/** Makes the text of HTML inert, except in its code. Its own links stay. */
export function inertMarkup(markup: string): string {
  return markup.replace(PIECES, (piece) => (piece.startsWith('<') ? piece : inertText(piece)))
}

/** Removes the joiners from text that is copied. */
export function withoutJoiners(text: string): string {
  return text.replaceAll(JOINER, '')
}
