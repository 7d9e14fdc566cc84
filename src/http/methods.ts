import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Maximum length of a decoded parameter in a path. A path with a longer one does not exist. */
export const PARAMETER_LENGTH_MAX = 100

interface Route {
  readonly url: string
  readonly pattern: RegExp
  readonly methods: readonly string[]
}

/** Methods of the paths of a server. */
export interface PathMethods {
  /**
   * Methods of a path, in the order of their routes; empty if the path does not exist. HEAD comes with GET and is not
   * listed. A route for every path is ignored.
   */
  of(path: string): readonly string[]
  /**
   * Whether the request matched a route with a parameter, though its path has routes of its own, such as
   * `/watches/backtest` beside `/watches/:id`: the path does not have the method.
   */
  isShadowed(request: FastifyRequest): boolean
}

/** Collects the methods of each path, from the routes that are added after this call. */
export function collectMethods(server: FastifyInstance): PathMethods {
  const routes: Route[] = []
  /** Paths of routes without parameters. */
  const plain = new Set<string>()
  server.addHook('onRoute', ({ url, method }) => {
    if (/^\/?\*$/.test(url)) return
    if (!/[:*]/.test(url)) plain.add(url)
    routes.push({ url, pattern: patternOf(url), methods: [method].flat() })
  })
  return {
    of(path) {
      const found = routes.filter((route) => matches(route, path))
      // The router prefers the path itself to parameters.
      const own = found.filter(({ url }) => plain.has(url))
      const methods = (own.length > 0 ? own : found).flatMap((route) => route.methods)
      const unique = [...new Set(methods)]
      return unique.filter((method) => method !== 'HEAD' || !unique.includes('GET'))
    },
    isShadowed({ routeOptions, url }) {
      if (routeOptions.url?.includes(':') !== true) return false
      const path = decoded(url.split('?')[0] ?? '')
      return path !== undefined && plain.has(path)
    },
  }
}

function matches({ url, pattern }: Route, path: string): boolean {
  if (url === decoded(path)) return true
  const [, ...parameters] = pattern.exec(path) ?? []
  return (
    pattern.test(path) &&
    parameters.every((text) => (decoded(text)?.length ?? Infinity) <= PARAMETER_LENGTH_MAX)
  )
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A route's URL as a pattern, with `:name` for one part of the path and `*` for the rest. */
function patternOf(url: string): RegExp {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/:\w+/g, '([^/]+)').replaceAll('*', '.*')}$`)
}
