import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Floor and room of each file, by the first pattern that fits. Imports go to lower floors only. */
const FLOORS: readonly (readonly [RegExp, number, string])[] = [
  [/^sandbox\//, 10, 'sandbox'],
  [/^src\/[\w-]+\.ts$|^src\/(?:db|admin|doctor)\/main\.ts$/, 10, 'process'],
  [/^bot\//, 9, 'bot'],
  [/^src\/http\//, 9, 'http'],
  [/^src\/pages\//, 9, 'pages'],
  [/^src\/jobs\//, 9, 'jobs'],
  [/^src\/admin\//, 9, 'admin'],
  [/^src\/doctor\//, 10, 'doctor'],
  [/^src\/operations\//, 8, 'operations'],
  [/^src\/alerts\//, 7, 'alerts'],
  [/^src\/notices\//, 7, 'notices'],
  [/^src\/delivery\//, 6, 'delivery'],
  [/^src\/recipients\//, 5, 'recipients'],
  [/^src\/pictures\//, 4, 'pictures'],
  [/^src\/channels\//, 3, 'channels'],
  [/^src\/watches\//, 3, 'watches'],
  [/^src\/fsp\//, 2, 'fsp'],
  [/^src\/billing\//, 2, 'billing'],
  [/^src\/auth\//, 2, 'auth'],
  [/^src\/db\//, 1, 'db'],
  [/^src\/chain\//, 1, 'chain'],
  [/^src\/i18n\//, 1, 'i18n'],
  [/^src\/actions\//, 1, 'actions'],
  [/^src\/telegram\//, 1, 'telegram'],
  [/^src\/kernel\//, 0, 'kernel'],
]

/** Packages that only the named files may import. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  '@bitauth/libauth': /^src\/chain\/signatures\/recover\.ts$|^sandbox\/devnet\/keys\.ts$/,
  'drizzle-orm': /(tables|store)\.ts$|^src\/db\//,
  '@modelcontextprotocol/server': /^src\/http\/mcp\//,
  fastify: /^src\/(http|pages)\/|^sandbox\/|^src\/app\.ts$|^bot\/core\/webhook\.ts$/,
  grammy: /^bot\/|^src\/telegram\/|^src\/channels\/telegram\/telegram\.ts$|^src\/app\.ts$/,
  i18next: /^src\/i18n\//,
  minisearch: /^src\/pages\/docs\/search\.ts$/,
  nodemailer: /^src\/channels\/mail\/mailer\.ts$/,
  secp256k1: /^src\/chain\/signatures\/recover\.ts$/,
  siwe: /^src\/auth\/message\.ts$/,
}

/**
 * The only files whose SQL reads the clock of the database: `db/clock.ts` for everybody, those whose rows
 * processes with different clocks compare, and the age of a standby's rows.
 */
const DATABASE_CLOCK = [
  'src/channels/telegram/pace-store.ts',
  'src/db/clock.ts',
  'src/db/leases.ts',
  'src/db/replica.ts',
  'src/db/slices.ts',
]
/** The clock of the database; `now()` of JavaScript is a method here. */
const SQL_CLOCK =
  /(?<![.\w])now\(\)|\b(?:clock|statement|transaction)_timestamp\b|\bcurrent_(?:time|date)|\blocaltime|\bdefaultNow\b/i

/** The only files that skip rows which others lock, see docs/decisions/0013-skip-locked.md. */
const SKIPPING = [
  'src/auth/store.ts',
  'src/billing/metering/store.ts',
  'src/db/delete-batch.ts',
  'src/db/due-rows.ts',
  'src/db/leases.ts',
  'src/db/queue.ts',
  'src/db/slices.ts',
  'src/delivery/chats/chat-store.ts',
  'src/delivery/claims/claim-store.ts',
  'src/delivery/claims/head-store.ts',
  'src/delivery/messages/message-store.ts',
  'src/delivery/pictures/picture-store.ts',
  'src/delivery/results/retry-store.ts',
  'src/recipients/outcome-store.ts',
  'src/watches/target-store.ts',
]

/** Tables of other rooms that a file names in its SQL, because it joins them with tables of its own room. */
const JOINED_TABLES: Readonly<Record<string, readonly string[]>> = {
  'src/alerts/summaries/deferred-store.ts': ['delivery_log'],
}
/** A table in SQL: the name after `from`, `join`, `into`, `update` or `using`. */
const SQL_TABLE = /\b(?:from|join|into|update|using)\s+(?:only\s+)?([a-z]\w*)/gi

/**
 * Patterns that only the named files may contain. The docs show programs that contain two of them.
 */
const FORBIDDEN: readonly (readonly [string, RegExp, RegExp])[] = [
  [
    'process.env',
    /\bprocess\.env\b/,
    /^src\/(config|main|probe)\.ts$|^sandbox\/main\.ts$|^src\/(?:db|admin|doctor)\/main\.ts$|^src\/pages\/docs\/calls\.ts$/,
  ],
  ['the machine’s clock', /\bDate\.now\(\)|\bnew Date\(\)/, /^src\/kernel\/clock\.ts$/],
  ['console', /\bconsole\./, /^sandbox\/.*browser\/|^src\/pages\/docs\/calls\.ts$/],
  ['Math.random', /\bMath\.random\b/, /^$/],
  // Escaped text can still be pressed; the functions of `bot/views/markup.ts` make it inert.
  ['escapeHtml', /\bescapeHtml\b/, /^(?:src|sandbox)\/|^bot\/views\/markup\.ts$/],
  // A text for people is cut by `cutText`. The named files shorten addresses, or cut between characters themselves.
  [
    'slice for a text that people read',
    /\.slice\(0, [^)]*\)\s*\.(?:toWellFormed\(\)|join\(''\))|\btyped\([^()]*\.slice\(0,|\.slice\(0, [^`\n]*\)\}…/,
    /^sandbox\/|^src\/(?:channels\/(?:mail\/email|card\/wording)|i18n\/format)\.ts$|^bot\/views\/view\.ts$/,
  ],
]

/**
 * Verbs that the bot calls without an operation: Telegram reports what happened to a chat itself, so there is no
 * caller whose rights could be checked.
 */
const VERBS_OF_THE_BOT = [
  '#src/recipients/chats.ts',
  '#src/recipients/connect.ts',
  '#src/delivery/service.ts',
  '#src/channels/telegram/alert.ts',
]

const LINES_MAX = 500
const FUNCTION_LINES_MAX = 60

/** Files whose `@see` is checked. */
const COMMENTED = '{src,bot,sandbox,clients,examples,ops,test}/**/*.{ts,sol}'
/** Files that must not take the path of a file from its address, in which a space is `%20`. */
const PROGRAMS = '{src,bot,sandbox,clients,examples,ops,test}/**/*.{ts,js,mjs}'
/** A path of this repository in a comment. Other targets are names of standards and of foreign code. */
const OWN_PATH = /(?<![\w/-])(?:src|bot|sandbox|clients|examples|ops|test|docs)\/[\w./-]+\.\w+/g

interface Source {
  readonly path: string
  readonly text: string
  readonly code: string
  readonly imports: readonly string[]
  /** Imports of more than types. */
  readonly values: readonly string[]
}

const sources: readonly Source[] = globSync('{src,bot,sandbox}/**/*.ts')
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => {
    const text = readFileSync(path, 'utf8')
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    const imports = [...code.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(
      ([, name]) => name ?? [],
    )
    const values = [...code.matchAll(/^import (?!type )[^']*? from '([^']+)'/gm)].flatMap(
      ([, name]) => name ?? [],
    )
    return { path, text, code, imports, values }
  })

function floorOf(path: string): readonly [number, string] {
  const found = FLOORS.find(([pattern]) => pattern.test(path))
  if (found === undefined) throw new Error(`${path} is in no room`)
  return [found[1], found[2]]
}

describe('the source tree', () => {
  test('imports lower floors only', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const [floor, room] = floorOf(path)
      return imports
        .filter((name) => name.startsWith('#'))
        .filter((name) => {
          const [otherFloor, otherRoom] = floorOf(name.slice(1))
          return otherRoom !== room && otherFloor >= floor && floor < 10
        })
        .map((name) => `${path} imports ${name}`)
    })
    expect(wrong).toEqual([])
  })

  test('imports with #src from other rooms only', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const [floor, room] = floorOf(path)
      return imports
        .filter((name) => name.startsWith('#') && floor < 10 && floorOf(name.slice(1))[1] === room)
        .map((name) => `${path} imports ${name}`)
    })
    expect(wrong).toEqual([])
  })

  test('never imports out of its room by a relative path', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const depth = path.split('/').length - (path.startsWith('src/') ? 3 : 2)
      return imports
        .filter((name) => name.startsWith('../') && !/\/locales\/|\/package.json$/.test(name))
        .filter((name) => name.split('../').length - 1 > depth)
        .map((name) => `${path} imports ${name}`)
    })
    expect(wrong).toEqual([])
  })

  test('has no circle between files, not even of types', () => {
    const byPath = new Map(sources.map((source) => [source.path, source]))
    const importsOf = (path: string) =>
      (byPath.get(path)?.imports ?? []).map((name) =>
        name.startsWith('#') ? name.slice(1) : join(dirname(path), name),
      )
    const isDone = new Set<string>()
    const circles: string[] = []
    const visit = (path: string, trail: readonly string[]) => {
      if (trail.includes(path))
        circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      if (isDone.has(path) || trail.includes(path)) return
      for (const next of importsOf(path)) visit(next, [...trail, path])
      isDone.add(path)
    }
    for (const { path } of sources) visit(path, [])
    expect(circles).toEqual([])
  })

  test('imports no feature of the bot into its shared parts', () => {
    const wrong = sources
      .filter(({ path }) => /^bot\/(core|views)\//.test(path))
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => join(dirname(path), name).startsWith('bot/features/'))
          .map((name) => `${path} imports ${name}`),
      )
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(PACKAGES))('imports %s in its own places only', (name, allowed) => {
    const wrong = sources
      .filter(
        ({ path, imports }) =>
          imports.some((path) => path === name || path.startsWith(`${name}/`)) &&
          !allowed.test(path),
      )
      .map(({ path }) => path)
    expect(wrong).toEqual([])
  })

  test.each(FORBIDDEN)('uses %s in its own place only', (_name, pattern, allowed) => {
    const wrong = sources
      .filter(({ path, code }) => pattern.test(code) && !allowed.test(path))
      .map(({ path }) => path)
    expect(wrong).toEqual([])
  })

  test('reads and writes a table in its own room only', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((name) => name.startsWith('#') && /(tables|store)\.ts$/.test(name))
        .map((name) => `${path} imports ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('names tables of its own room only in SQL', () => {
    const rooms = new Map(
      sources.flatMap(({ path, code }) =>
        [...code.matchAll(/\bpg(?:Table|View)\(\s*'(\w+)'/g)].map(([, table]) => [
          table,
          floorOf(path)[1],
        ]),
      ),
    )
    const foreign = sources.flatMap(({ path, code }) => {
      const [, room] = floorOf(path)
      // The sandbox plays the operator and looks into the database from outside.
      if (room === 'sandbox') return []
      const named = new Set([...code.matchAll(SQL_TABLE)].flatMap(([, table]) => table ?? []))
      const others = [...named].filter((table) => (rooms.get(table) ?? room) !== room)
      return others.length === 0 ? [] : [[path, others.toSorted()] as const]
    })
    expect(Object.fromEntries(foreign)).toEqual(JOINED_TABLES)
  })

  test('lets pages and the bot reach stored data through operations only', () => {
    const isData = (name: string) => /(tables|store)\.ts$|^#src\/db\//.test(name)
    const reading = new Set(
      sources
        .filter(({ path }) => /^src\/(?!operations|db|kernel|telegram)/.test(path))
        .filter(({ values }) => values.some(isData))
        .map(({ path }) => `#${path}`),
    )
    const wrong = sources
      .filter(({ path }) => /^(src\/pages|bot)\//.test(path))
      .flatMap(({ path, values }) =>
        values
          .filter((name) => reading.has(name) && !VERBS_OF_THE_BOT.includes(name))
          .map((name) => `${path} imports ${name}`),
      )
    expect(wrong).toEqual([])
  })

  test(`has no file above ${LINES_MAX} lines`, () => {
    const wrong = sources
      .filter(({ text }) => text.trimEnd().split('\n').length > LINES_MAX)
      .map(({ path }) => path)
    expect(wrong).toEqual([])
  })

  test(`explains why a function has more than ${FUNCTION_LINES_MAX} lines`, () => {
    const wrong = sources.flatMap(({ path, text }) =>
      longFunctions(text)
        .filter(({ docstring }) => !/\bLong because /.test(docstring.replaceAll(/\s+\*?\s*/g, ' ')))
        .map(({ name, lines }) => `${path} ${name}: ${lines} lines`),
    )
    expect(wrong).toEqual([])
  })

  test('names only existing files and identifiers in @see', () => {
    const wrong = globSync(COMMENTED).flatMap((path) => {
      const text = readFileSync(path, 'utf8')
      return [...text.matchAll(/@see ((?:(?!\*\/|\n\s*\*?\s*(?:@|\n)).)+)/g)]
        .map(([, target]) => (target ?? '').trim())
        .filter((target) => !isPresent(target, text))
        .map((target) => `${path} @see ${target}`)
    })
    expect(wrong).toEqual([])
  })

  test('skips locked rows in the named files only', () => {
    const skipping = sources.filter(({ code }) => /skip locked|skipLocked/i.test(code))
    expect(skipping.map(({ path }) => path).toSorted()).toEqual(SKIPPING)
  })

  test('reads the clock of the database in the named files only', () => {
    const reading = sources.filter(
      ({ path, code }) => PACKAGES['drizzle-orm']?.test(path) && SQL_CLOCK.test(code),
    )
    expect(reading.map(({ path }) => path).toSorted()).toEqual(DATABASE_CLOCK)
  })

  test('takes numbers of random inputs from `runs` of test/support/runs.ts only', () => {
    const fixed = globSync('{src,bot,sandbox,test}/**/*.test.ts').filter((path) =>
      /\bnumRuns: \d|\benv\['?(?:SOAK|FAST)\b/.test(readFileSync(path, 'utf8')),
    )
    expect(fixed).toEqual([])
  })

  test('takes no path from the address of a file, which is encoded', () => {
    const wrong = globSync(PROGRAMS, { exclude: ['**/node_modules/**'] }).flatMap((path) => {
      const code = readFileSync(path, 'utf8')
      const addresses = [...code.matchAll(/const (\w+) = new URL\([^)]*\bimport\.meta\.url\)/g)]
      const names = ['import\\.meta\\.url\\)', ...addresses.map(([, name]) => `\\b${name}`)]
      const taken = code.match(new RegExp(`(?:${names.join('|')})\\.pathname`, 'g')) ?? []
      return taken.map((text) => `${path}: ${text}`)
    })
    expect(wrong).toEqual([])
  })

  test('has no folder for unsorted files', () => {
    const wrong = sources.filter(({ path }) =>
      /\/(utils?|helpers?|common|shared|lib)(\/|\.ts)/.test(path),
    )
    expect(wrong.map(({ path }) => path)).toEqual([])
  })
})

/** Whether each file that a target names exists, and its identifier occurs in code of the text. */
function isPresent(target: string, text: string) {
  const isFound = [...target.matchAll(OWN_PATH)].every(([path]) => existsSync(path))
  if (!/^\w+$/.test(target)) return isFound
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  return new RegExp(`\\b${target}\\b`).test(code)
}

/** Function declarations above the limit, with the comment directly before them. */
function longFunctions(text: string) {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const [, indent, name] = /^(\s*)(?:export )?(?:async )?function\*? (\w+)/.exec(line) ?? []
    if (indent === undefined || name === undefined) return []
    const end = lines.indexOf(`${indent}}`, start)
    const length = end - start + 1
    if (length <= FUNCTION_LINES_MAX) return []
    const [docstring = ''] =
      /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(lines.slice(0, start).join('\n')) ?? []
    return [{ name, lines: length, docstring }]
  })
}
