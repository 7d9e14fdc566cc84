import type { FastifyInstance } from 'fastify'

/**
 * Collects the methods of each path, from the routes that are added after this call.
 *
 * @returns lookup of a path's methods in the order of their routes; empty if there is no route. HEAD comes
 * with GET and is not listed. A route for every path is ignored.
 */
export function collectMethods(server: FastifyInstance): (path: string) => readonly string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = []
  server.addHook('onRoute', ({ url, method }) => {
    if (/^\/?\*$/.test(url)) return
    routes.push({ pattern: patternOf(url), methods: [method].flat() })
  })
  return (path) => {
    const methods = routes.flatMap((route) => (route.pattern.test(path) ? route.methods : []))
    const unique = [...new Set(methods)]
    return unique.filter((method) => method !== 'HEAD' || !unique.includes('GET'))
  }
}

/** A route's URL as a pattern, with `:name` for one part of the path and `*` for the rest. */
function patternOf(url: string): RegExp {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`)
}
