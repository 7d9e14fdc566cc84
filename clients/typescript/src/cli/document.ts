/*! This command contains the package yaml:

Copyright Eemeli Aro <eemeli@gmail.com>

Permission to use, copy, modify, and/or distribute this software for any purpose
with or without fee is hereby granted, provided that the above copyright notice
and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH
REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS
OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER
TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.
*/
/** Reads a file of watches: its YAML, its references to the environment, and what each line says. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml'
import type { References } from './environment.ts'
import { FileError, type Mistake } from './problems.ts'

/** A path inside an entry, such as `['settings', 'threshold']`. */
export type Path = readonly (string | number)[]

/** A watch, a recipient, or the settings, as the file has it. */
export interface Entry {
  readonly label: string
  readonly fields: Readonly<Record<string, unknown>>
  /** Line of a value, or of the nearest one around it. */
  lineOf(path: Path): number
}

/** A file of watches. What the file does not name is left alone. */
export interface WatchFile {
  readonly path: string
  readonly wallet: string | undefined
  readonly recipients: readonly Entry[] | undefined
  readonly watches: readonly Entry[] | undefined
  readonly settings: Entry | undefined
}

const SECTIONS = ['wallet', 'recipients', 'watches', 'settings'] as const
/** Aliases that a file may use, so that a small file cannot become a huge one. */
const ALIASES_MAX = 100

/**
 * Parses a file of watches.
 *
 * @param path names the file in errors
 * @throws FileError with the line of each mistake
 */
export function readWatchFile(path: string, text: string, references: References): WatchFile {
  return new Reader(path, text, references).read()
}

class Reader {
  readonly #path: string
  readonly #text: string
  readonly #lines = new LineCounter()
  readonly #document: Document.Parsed
  readonly #references: References
  readonly #mistakes: Mistake[] = []

  constructor(path: string, text: string, references: References) {
    this.#path = path
    this.#text = text
    this.#references = references
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      // Addresses begin with 0x: without quotes they are texts, too, and no numbers that lose digits.
      customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.format !== 'HEX'),
    })
  }

  read(): WatchFile {
    for (const { code, message, pos } of this.#document.errors) {
      const text = code === 'DUPLICATE_KEY' ? this.#duplicate(pos[0]) : message.split('\n')[0]
      this.#mistake(pos[0], text?.replace(/ at line \d+, column \d+:?$/, '') ?? code)
    }
    this.#throwMistakes()
    const root = this.#document.contents
    if (!isMap(root)) {
      this.#mistake(0, `must have ${SECTIONS.join(', ')}`)
      this.#throwMistakes()
    }
    this.#checkKeys(root as YAMLMap, SECTIONS)
    const file = {
      path: this.#path,
      wallet: this.#wallet(),
      recipients: this.#entries('recipients'),
      watches: this.#entries('watches'),
      settings: this.#entry('', ['settings']),
    }
    this.#throwMistakes()
    return file
  }

  #wallet(): string | undefined {
    const value = this.#value(['wallet'])
    if (value === undefined || (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value))) {
      return value
    }
    this.#mistakeAt(['wallet'], 'wallet must be an address')
    return undefined
  }

  #entries(section: 'recipients' | 'watches'): readonly Entry[] | undefined {
    const node = this.#document.getIn([section], true)
    if (node === undefined) return undefined
    if (isScalar(node) && node.value === null) return []
    if (!isMap(node)) {
      this.#mistakeAt(
        [section],
        `${section} must be a map: a name, and below it what belongs to it`,
      )
      return undefined
    }
    const seen = new Set<string>()
    return node.items.flatMap((pair) => {
      const label = isScalar(pair.key) ? String(pair.key.source ?? pair.key.value).trim() : ''
      const at = isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
      if (label === '') this.#mistake(at, 'a name must be a text')
      // Names such as 1 and "1" differ in YAML and are the same name here.
      if (seen.has(label)) this.#mistake(at, `the name "${label}" is there twice`)
      seen.add(label)
      const key = isScalar(pair.key) ? pair.key.value : pair.key
      const entry = this.#entry(label, [section, key as string])
      if (entry === undefined) this.#mistake(at, `"${label}" is empty`)
      return entry ?? []
    })
  }

  #entry(label: string, path: Path): Entry | undefined {
    const node = this.#document.getIn(path, true)
    if (node === undefined || (isScalar(node) && node.value === null)) return undefined
    if (!isMap(node) && !isAlias(node)) {
      this.#mistakeAt(path, `"${label || path[0]}" must be a map`)
      return undefined
    }
    // Safe: a map, whose keys the parser made texts.
    const fields = this.#value(path) as Record<string, unknown>
    return { label, fields, lineOf: (inside) => this.#lineAt([...path, ...inside]) }
  }

  /** A value as JavaScript has it, with its references resolved. */
  #value(path: Path): unknown {
    const node = this.#document.getIn(path, true)
    if (!isNode(node)) return undefined
    try {
      const value: unknown = node.toJS(this.#document, { maxAliasCount: ALIASES_MAX })
      return this.#resolved(value, path)
    } catch (error) {
      this.#mistakeAt(path, error instanceof Error ? error.message : 'cannot be read')
      return undefined
    }
  }

  #resolved(value: unknown, path: Path): unknown {
    if (typeof value === 'string') {
      return this.#references.resolve(value, (text) => this.#mistakeAt(path, text))
    }
    if (Array.isArray(value)) {
      return value.map((item, index) => this.#resolved(item, [...path, index]))
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#resolved(item, [...path, key])]),
    )
  }

  #checkKeys(map: YAMLMap, known: readonly string[]): void {
    for (const { key } of map.items) {
      const name = isScalar(key) ? String(key.value) : '?'
      if (known.includes(name)) continue
      const at = isNode(key) ? (key.range?.[0] ?? 0) : 0
      this.#mistake(at, `unknown key "${name}"; known are ${known.join(', ')}`)
    }
  }

  #duplicate(offset: number): string {
    const name = /^[^\n:]*/.exec(this.#text.slice(offset))?.[0].trim() ?? ''
    return `the name "${name.replaceAll(/^["']|["']$/g, '')}" is there twice`
  }

  #lineAt(path: Path): number {
    const tokens = [...path]
    for (;;) {
      const node = nodeAt(this.#document.contents, tokens)
      const offset = node?.range?.[0]
      if (offset !== undefined) return this.#lines.linePos(offset).line
      if (tokens.pop() === undefined) return 1
    }
  }

  #mistakeAt(path: Path, text: string): void {
    this.#mistakes.push({ line: this.#lineAt(path), text })
  }

  #mistake(offset: number, text: string): void {
    this.#mistakes.push({ line: this.#lines.linePos(offset).line, text })
  }

  #throwMistakes(): void {
    if (this.#mistakes.length > 0) throw new FileError(this.#path, this.#mistakes)
  }
}

/** The key of a value, whose line a person looks at; the item itself in a list. */
function nodeAt(from: unknown, path: Path): Node | undefined {
  let node = from
  let found: Node | undefined = isNode(from) ? from : undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (!isPair(pair)) return undefined
      found = isNode(pair.key) ? pair.key : undefined
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      found = isNode(node) ? node : undefined
    } else return undefined
  }
  return found
}
