/** Questions to the person behind a client: whether a call may spend, delete, overwrite, silence or hand out rights. */
import type * as Mcp from '@modelcontextprotocol/server'
import { z } from 'zod'
import { shortAddress } from '#src/i18n/format.ts'
import { id as bare, type Translate } from '#src/i18n/translate.ts'
import type { ConfirmedCall } from './confirmation.ts'

/** A client that can ask its person, and what the person said. */
export interface Asking {
  /** The confirmation that the question carried, as the client returns it. */
  readonly state: string | undefined
  /** Undefined before the person was asked. */
  readonly answer: 'agreed' | 'refused' | undefined
}

/** Name of the question, and of its one field. */
const QUESTION = 'agree'
const Agreed = z.object({ [QUESTION]: z.literal(true) })
/** A client that declares elicitation without a form shows forms: it was the only kind once. */
const Forms = z.union([
  z.object({ form: z.looseObject({}) }),
  z.looseObject({ url: z.undefined().optional() }),
])
const Capabilities = z.looseObject({ elicitation: Forms })

/**
 * How the client of a request can ask its person; undefined if it cannot. Clients say what they can with each request since
 * revision 2026-07-28. Earlier ones would need a session, which this door does not have.
 */
export function askingOf(mcp: typeof Mcp, { mcpReq }: Mcp.ServerContext): Asking | undefined {
  const declared = z.object({ [mcp.CLIENT_CAPABILITIES_META_KEY]: Capabilities })
  if (!declared.safeParse(mcpReq.envelope).success) return undefined
  const state = mcpReq.requestState()
  const given = mcp.inputResponse(mcpReq.inputResponses, QUESTION)
  const isAgreed = given.kind === 'elicit' && given.action === 'accept'
  const said = isAgreed && Agreed.safeParse(given.content).success ? 'agreed' : 'refused'
  return {
    state: typeof state === 'string' ? state : undefined,
    answer: given.kind === 'missing' ? undefined : said,
  }
}

/** The question about a call. `state` is the confirmation, which the client returns with the answer. */
export function questionOf(
  t: Translate,
  {
    wallet,
    summary,
    state,
  }: ConfirmedCall & { readonly summary: string | undefined; readonly state: string },
): Mcp.InputRequiredResult {
  const title = t('operations:mcp.agree', { wallet: bare(shortAddress(wallet)) })
  const params = {
    mode: 'form',
    message: summary ?? title,
    requestedSchema: {
      type: 'object',
      properties: { [QUESTION]: { type: 'boolean', title } },
      required: [QUESTION],
    },
  }
  return {
    resultType: 'input_required',
    inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
    requestState: state,
  } as Mcp.InputRequiredResult
}

/** Whether the answer to a call is a question to the person. */
export function isQuestion(answer: unknown): answer is Mcp.InputRequiredResult {
  return z.object({ resultType: z.literal('input_required') }).safeParse(answer).success
}
