/** One line of the doctor: what was found, what it means, and what to do. */
export interface Finding {
  /** What was looked at, such as `endpoint flare-api.flare.network`. */
  readonly subject: string
  /** `wrong`: something will not work. `warn`: it works, and something is missing or weak. */
  readonly level: 'ok' | 'warn' | 'wrong'
  /** What was found and what it means, without secrets. */
  readonly text: string
  /** What to do; absent if nothing is. */
  readonly todo?: string
}

export function ok(subject: string, text: string): Finding {
  return { subject, level: 'ok', text }
}

export function warn(subject: string, text: string, todo: string): Finding {
  return { subject, level: 'warn', text, todo }
}

export function wrong(subject: string, text: string, todo: string): Finding {
  return { subject, level: 'wrong', text, todo }
}

const MARKS = { ok: 'ok', warn: 'warn', wrong: 'WRONG' } as const

/** The finding as one line. */
export function lineOf({ subject, level, text, todo }: Finding): string {
  const line = `${MARKS[level]} ${subject}: ${text}`
  return (todo === undefined ? line : `${line}. To do: ${todo}`).replaceAll(/\s+/g, ' ')
}
