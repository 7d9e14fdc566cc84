/**
 * The title of an alert beside the name of its watch: a name that the title begins with is not repeated, as
 * in *FLR/USD: FLR/USD: +12%*.
 */
export function titleBeside(label: string, title: string): string {
  const bare = title.replace(/^[\u200f\u2066-\u2069]+/, '')
  if (label === '' || !bare.startsWith(label)) return title
  const [, rest] = /^[\u2069\u00a0\u202f ]*[:：]\s*(\S.*)$/s.exec(bare.slice(label.length)) ?? []
  return rest ?? title
}
