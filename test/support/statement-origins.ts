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

const builtAt = new WeakMap<object, { readonly stack?: string }>()
let sending: object | undefined

/**
 * Origin of the statement that is being sent, `room/file.ts: function`; undefined if no room built
 * it.
 */
export function originOfStatement(): string | undefined {
  const stack = sending && builtAt.get(sending)?.stack
  let file: string | undefined
  for (const line of stack?.split('\n') ?? []) {
    const [, name = '', path = ''] =
      /at (?:async )?(.*?) ?\(?(?:file:\/\/)?(\/[^:]+):\d+/.exec(line) ?? []
    if (path === '' || path.includes('/node_modules/') || path === import.meta.filename) continue
    const [, place] = /\/((?:src|bot|test|sandbox|ops)\/[^?]+)/.exec(path) ?? []
    if (place === undefined || place.startsWith('src/db/')) continue
    if (!/^(src|bot)\//.test(place)) return undefined
    const known = name.replace(/ \[as .*/, '').replace(/^.*[. ]/, '')
    // A function without a name is inside one that has one.
    if (known !== '' && known !== '<anonymous>') return `${place}: ${known}`
    file ??= place
  }
  return file && `${file}: ?`
}

type Method = (this: object, ...args: unknown[]) => object

function wrap(prototype: object, name: string, around: (method: Method) => Method): void {
  const methods = prototype as Record<string, Method>
  const method = methods[name]
  if (method === undefined) throw new Error(`Drizzle has no ${name}`)
  methods[name] = around(method)
}

/** Call it once per process, before statements are built. */
export function rememberOrigins(): void {
  for (const [{ prototype }, name] of BUILDERS) {
    wrap(
      prototype,
      name,
      (method) =>
        function build(...args) {
          const built = method.apply(this, args)
          const limit = Error.stackTraceLimit
          Error.stackTraceLimit = FRAMES_MAX
          builtAt.set(built, new Error('built here'))
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
