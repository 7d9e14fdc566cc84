import { z } from 'zod'
import { REGISTRY } from '#src/operations/index.ts'
import { openApiDocument } from '#src/operations/openapi/openapi.ts'

const Paths = z.record(
  z.string(),
  z.record(
    z.string(),
    z.looseObject({
      responses: z.record(z.string(), z.unknown()),
      'x-error-codes': z.array(z.string()),
    }),
  ),
)

interface Described {
  readonly method: string
  readonly pattern: RegExp
  readonly statuses: ReadonlySet<string>
  readonly codes: ReadonlySet<string>
}

let described: readonly Described[] | undefined

function readDescription(): readonly Described[] {
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  const paths = Paths.parse(openApiDocument(app, 'en')['paths'])
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses, 'x-error-codes': codes }]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      statuses: new Set(Object.keys(responses)),
      codes: new Set(codes),
    })),
  )
}

/**
 * Checks that the OpenAPI document names the status and the error code of a response.
 *
 * @param path below the prefix of the operations, with its query
 * @param code of the problem; undefined for a success
 * @throws Error for an undocumented status or code
 */
export function requireDocumented(
  method: string,
  path: string,
  { status, code }: { readonly status: number; readonly code: string | undefined },
): void {
  described ??= readDescription()
  const bare = path.split('?')[0] ?? ''
  const operations = described.filter(
    (operation) => operation.method === method && operation.pattern.test(bare),
  )
  if (operations.length === 0) return
  if (!operations.some(({ statuses }) => statuses.has(String(status)))) {
    throw new Error(`${method} ${path} answered ${status}, which its description does not name`)
  }
  if (code !== undefined && !operations.some(({ codes }) => codes.has(code))) {
    throw new Error(`${method} ${path} answered ${code}, which its description does not name`)
  }
}
