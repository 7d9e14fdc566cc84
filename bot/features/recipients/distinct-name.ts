import { cutText } from '#src/kernel/cut-text.ts'
import { LABEL_LENGTH_MAX } from '#src/kernel/label.ts'
import { countGraphemes } from '#src/kernel/outside-text.ts'

/** Makes a name differ from all others by a number at its end, such as `example.org 2`. */
export function distinctName(name: string, others: readonly (string | null)[]): string {
  for (let number = 2, next = name; ; number += 1) {
    if (!others.includes(next)) return next
    const ending = ` ${number}`
    next = `${cutText(name, LABEL_LENGTH_MAX - ending.length, countGraphemes)}${ending}`
  }
}
