import { globSync, readFileSync } from 'node:fs'

/** A value that code inserts into a text, as an expression. */
export interface Use {
  /** `<file>:<key>`, without plural ending. */
  readonly key: string
  readonly placeholder: string
  /** The expression of the value. */
  readonly value: string
  readonly path: string
}

/** Literal calls that name a text and its values: `t('bot:zone.set', { zone: id(name) })`. */
export function usesIn(path: string, source: string): readonly Use[] {
  const calls = source.matchAll(/'([a-z]+:[\w.-]+)',\s*\{/g)
  return [...calls].flatMap((call) => {
    const [whole, key = ''] = call
    const object = objectAt(source, call.index + whole.length - 1)
    return propertiesOf(object).map(([placeholder, value]) => ({ key, placeholder, value, path }))
  })
}

/** Every such call in the code of the service. */
export function allUses(): readonly Use[] {
  return globSync('{src,bot}/**/*.ts')
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => usesIn(path, readFileSync(path, 'utf8')))
}

const OPENING = '([{'
const CLOSING = ')]}'

/** The text between a brace and the one that closes it. */
function objectAt(source: string, start: number): string {
  let depth = 0
  for (let at = start; at < source.length; at += 1) {
    const sign = source.charAt(at)
    if (OPENING.includes(sign)) depth += 1
    if (CLOSING.includes(sign)) depth -= 1
    if (depth === 0) return source.slice(start + 1, at)
  }
  return ''
}

/** Names and values at the top of an object; a shorthand is its own value. */
function propertiesOf(object: string): readonly (readonly [string, string])[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const sign of object) {
    if (OPENING.includes(sign)) depth += 1
    if (CLOSING.includes(sign)) depth -= 1
    if (sign === ',' && depth === 0) {
      parts.push(part)
      part = ''
    } else part += sign
  }
  return [...parts, part].flatMap((text) => {
    const match = /^\s*(\w+)(?:\s*:\s*([\s\S]+?))?\s*$/.exec(text)
    return match === null ? [] : [[match[1] ?? '', (match[2] ?? match[1] ?? '').trim()] as const]
  })
}
