import type { FastifyRequest } from 'fastify'
import type { LinkKind } from '#src/kernel/caller.ts'
import type { App, OperationWith } from '#src/operations/define.ts'
import { invoke, type RawInput } from '#src/operations/gate/invoke.ts'
import { localeOf } from './layout.ts'

/** Path parameters of a page that a link opens. */
export interface LinkRoute {
  Params: { code: string }
}

/** Invokes an operation as the holder of the request's link. Limits count by the client's network. */
export type AskByLink = <Output>(
  request: FastifyRequest<LinkRoute>,
  operation: OperationWith<Output>,
  raw?: Pick<RawInput, 'body' | 'query'>,
) => Promise<Output>

/** Invokes operations for pages with links of one kind. */
export function askerByLink(app: App, link: LinkKind): AskByLink {
  return async (request, operation, raw) => {
    const { output } = await invoke(
      app,
      operation,
      { link, code: request.params.code },
      { ...raw, locale: localeOf(request), limitKey: request.clientNetwork },
    )
    return output
  }
}
