/**
 * The title of an alert for use after the name of its watch. A name that begins the title before a price move is
 * removed, to avoid texts such as *FLR/USD: FLR/USD +12% within 1 hour*. Stored titles of earlier releases have a colon
 * between them.
 */
export function titleAfterWatchName(label: string, title: string): string {
  const bare = title.replace(/^[\u200f\u2066-\u2069]+/, '')
  if (label === '' || !bare.startsWith(label)) return title
  const [, rest] =
    /^\u2069?[\s:：]\s*([\u061c\u200e\u200f\u2066-\u2068]*[-+\u2212].*)$/s.exec(
      bare.slice(label.length),
    ) ?? []
  return rest ?? title
}
