/**
 * The title of an alert for use after the name of its watch. A name with which the title begins is removed,
 * to avoid texts such as *FLR/USD: FLR/USD: +12%*.
 */
export function titleAfterWatchName(label: string, title: string): string {
  const bare = title.replace(/^[\u200f\u2066-\u2069]+/, '')
  if (label === '' || !bare.startsWith(label)) return title
  const [, rest] = /^[\u2069\u00a0\u202f ]*[:：]\s*(\S.*)$/s.exec(bare.slice(label.length)) ?? []
  return rest ?? title
}
