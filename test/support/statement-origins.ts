/**
 * Records which function of a room built a statement. Drizzle sends a statement when it is awaited,
 * and by then the stack no longer contains the function that built it.
 */
import { QueryPromise } from 'drizzle-orm'
import {
  PgDatabase,
  PgInsertBuilder,
  PgSelectBase,
  PgSelectBuilder,
  PgUpdateBuilder,
} from 'drizzle-orm/pg-core'

/** Methods that a room calls to build a statement. */
const BUILDERS = [
  [PgDatabase, 'execute'],
  [PgDatabase, 'delete'],
  [PgSelectBuilder, 'from'],
  [PgInsertBuilder, 'values'],
  [PgInsertBuilder, 'select'],
  [PgUpdateBuilder, 'set'],
] as const
const FRAMES_MAX = 15

/** Where a statement was built: V8 computes `stack` when it is first read. */
const builtAt = new WeakMap<object, { readonly stack?: unknown }>()
let sending: object | undefined

/**
 * Origin of the statement that is being sent, `room/file.ts: function`; undefined if no room built
 * it.
 */
export function originOfStatement(): string | undefined {
  let file: string | undefined
  for (const site of sending === undefined ? [] : framesOf(sending)) {
    const place = placeOf(site.getFileName() ?? '')
    if (place === undefined) continue
    if (!/^(src|bot)\//.test(place)) return undefined
    const name = (site.getFunctionName() ?? '').replace(/^.*[. ]/, '')
    // The origin of a function without a name is the next frame that has one.
    if (name !== '') return `${place}: ${name}`
    file ??= place
  }
  return file && `${file}: ?`
}

/** The frames as V8 knows them: as text, each would be looked up in the source maps of vite. */
function framesOf(built: object): readonly NodeJS.CallSite[] {
  const prepare = Error.prepareStackTrace
  Error.prepareStackTrace = (_, frames) => frames
  try {
    const { stack } = builtAt.get(built) ?? {}
    return Array.isArray(stack) ? stack : []
  } finally {
    Error.prepareStackTrace = prepare
  }
}

/** A file's path below the project's folder; undefined for packages, for `src/db` and for this file. */
function placeOf(path: string): string | undefined {
  if (path.includes('/node_modules/') || path.endsWith(import.meta.filename)) return undefined
  const [, place] = /\/((?:src|bot|test|sandbox|ops)\/[^?]+)/.exec(path) ?? []
  return place?.startsWith('src/db/') ? undefined : place
}

type Method = (this: object, ...args: unknown[]) => object

function wrap(prototype: object, name: string, around: (method: Method) => Method): void {
  const methods = prototype as Record<string, Method>
  const method = methods[name]
  if (method === undefined) throw new Error(`Drizzle has no ${name}`)
  methods[name] = around(method)
}

/** Call it once per process, before statements are built. */
export function recordStatementOrigins(): void {
  for (const [{ prototype }, name] of BUILDERS) {
    wrap(
      prototype,
      name,
      (method) =>
        function build(...args) {
          const built = method.apply(this, args)
          const limit = Error.stackTraceLimit
          Error.stackTraceLimit = FRAMES_MAX
          const mark = {}
          Error.captureStackTrace(mark, build)
          builtAt.set(built, mark)
          Error.stackTraceLimit = limit
          return built
        },
    )
  }
  for (const { prototype } of [QueryPromise, PgSelectBase]) {
    wrap(
      prototype,
      'then',
      (method) =>
        function send(...args) {
          const before = sending
          sending = this
          try {
            return method.apply(this, args)
          } finally {
            sending = before
          }
        },
    )
  }
}
