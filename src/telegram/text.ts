/** The text that a reader sees of Telegram's HTML. */
export function plainOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

/** An element whose text Telegram does not link, or links itself; or a masked mailbox, such as `a…@example.org`. */
const MASKED =
  /<(code|pre|a)\b.*?<\/\1>|(?:&\w+;|[^\s<>&;\u2066-\u2069])?…@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*/gsu

/** Writes masked mailboxes as code: Telegram would link their domain as the name of an account. */
export function masksAsCode(markup: string): string {
  return markup.replace(MASKED, (found, element?: string) =>
    element === undefined ? `<code>${found}</code>` : found,
  )
}
