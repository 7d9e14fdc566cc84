import type { Mistake } from './problems.ts'

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** `$${` stands for `${`; `${NAME[1]}` is the second part of a list with commas. */
const REFERENCE = /\$(\$\{)|\$\{([^}]*)\}/g
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?:\[(\d{1,3})\])?$/
/** A shorter value is no secret, and would hide ordinary words of the output. */
const SECRET_LENGTH_MIN = 8

/** Puts variables into texts, and hides their values in the output. */
export class References {
  readonly #environment: Environment
  readonly #names = new Map<string, string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** A text with the values of its references. A reference without a value is a mistake. */
  resolve(text: string, mistake: (text: string) => void): string {
    return text.replaceAll(REFERENCE, (whole, escaped: string | undefined, inside = '') => {
      if (escaped !== undefined) return escaped
      const [, name, index] = NAME.exec(inside) ?? []
      if (name === undefined) {
        mistake(`${whole} is not a reference such as \${WEBHOOK_URL}`)
        return ''
      }
      const all = this.#environment[name]
      const value = index === undefined ? all : all?.split(',')[Number(index)]
      if (value === undefined || value.trim() === '') {
        mistake(`the environment variable ${inside} is not set`)
        return ''
      }
      this.#names.set(value.trim(), inside)
      return value.trim()
    })
  }

  /** A text in which the values that were taken from the environment have their names again. */
  hide(text: string): string {
    const values = [...this.#names].filter(([value]) => value.length >= SECRET_LENGTH_MIN)
    return values
      .toSorted(([one], [other]) => other.length - one.length)
      .reduce((hidden, [value, name]) => hidden.replaceAll(value, `\${${name}}`), text)
  }
}

/** A variable of a file, with its line. */
export interface Variable {
  readonly name: string
  readonly value: string
  readonly line: number
}

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/

/** The variables of a `.env` file, in its order, and the lines that are none. */
export function readVariables(text: string): {
  readonly variables: readonly Variable[]
  readonly mistakes: readonly Mistake[]
} {
  const variables: Variable[] = []
  const mistakes: Mistake[] = []
  for (const [index, row] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = index + 1
    if (/^\s*(#|$)/.test(row)) continue
    const [, name, raw] = ASSIGNMENT.exec(row) ?? []
    if (name === undefined || raw === undefined) {
      mistakes.push({ line, text: 'is not NAME=value' })
      continue
    }
    variables.push({ name, value: unquoted(raw), line })
  }
  return { variables, mistakes }
}

function unquoted(raw: string): string {
  const [, quoted] = /^(?:"([^"]*)"|'[^']*')\s*(?:#.*)?$/.exec(raw) ?? []
  if (quoted !== undefined) return quoted
  const [, single] = /^'([^']*)'\s*(?:#.*)?$/.exec(raw) ?? []
  return single ?? raw.replace(/\s+#.*$/, '')
}
