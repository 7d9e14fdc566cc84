/**
 * Converts to Latin digits, plain spaces, signs, points, commas and apostrophes; removes direction marks.
 */
export function simplified(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)))
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[\u2212\uff0d\ufe63]/g, '-')
    .replace(/\uff0b/g, '+')
    .replace(/\uff0e/g, '.')
    .replace(/[\uff0c\u060c]/g, ',')
    .replace(/[\u2019\u2018\u02bc\uff07]/g, "'")
    .trim()
}

/**
 * Value of a digit in any script. Digits of a script form runs of ten, zero first; runs of one script may
 * be adjacent.
 */
function digitValue(digit: string): number {
  const point = digit.codePointAt(0) ?? 0
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before += 1
  return before % 10
}
