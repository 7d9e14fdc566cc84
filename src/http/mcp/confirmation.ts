/**
 * Confirmations of calls: a signed text for one wallet, tool and arguments, and for the rows that the preview counted.
 * A confirmation is stored when it is used: its id is the idempotency key of the call, so the call happens once.
 */
import { createHash, randomBytes } from 'node:crypto'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import type { App, RowBound } from '#src/operations/define.ts'
import type { Confirmed } from '#src/operations/gate/invoke.ts'

/** Time in which a confirmation can be used. */
const LIFETIME_MS = 5 * MINUTE_MS
/**
 * Who returns a confirmation: the client, with the answer of the person whom it asked, or the agent, where the client cannot
 * ask. Each is signed for its own purpose, so an agent cannot return what was written for the client.
 */
const PURPOSES = { client: 'mcp question', agent: 'mcp confirmation' } as const
export type ReturnedBy = keyof typeof PURPOSES
const ID_BYTES = 16

/** The call that is confirmed. */
export interface ConfirmedCall {
  readonly wallet: Address
  readonly tool: string
  /** Arguments without the confirmation. */
  readonly input: unknown
}

type Deps = Pick<App, 'box' | 'clock'>

/** A new confirmation of a call, with its expiry. */
export function makeConfirmation(
  { box, clock }: Deps,
  call: ConfirmedCall,
  { by, bound }: { readonly by: ReturnedBy; readonly bound: RowBound | undefined },
): { readonly confirmation: string; readonly expiresAt: Date } {
  const expiresAt = new Date(clock.now().getTime() + LIFETIME_MS)
  const id = randomBytes(ID_BYTES).toString('hex')
  const rows = bound === undefined ? [] : [bound.newestId, bound.count]
  const payload = [id, expiresAt.getTime(), digestOf(call), ...rows].join('.')
  return { confirmation: box.signLink(PURPOSES[by], payload), expiresAt }
}

/** A confirmation; undefined if the text is of another call, or expired. */
export function readConfirmation(
  { box, clock }: Deps,
  confirmation: string,
  call: ConfirmedCall,
  by: ReturnedBy,
): Confirmed | undefined {
  const [id, expiresAtMs, digest, newestId, count] =
    box.readLink(PURPOSES[by], confirmation)?.split('.') ?? []
  const isInTime = Number(expiresAtMs) > clock.now().getTime()
  if (id === undefined || !isInTime || digest !== digestOf(call)) return undefined
  const hasBound = newestId !== undefined && count !== undefined
  const bound = hasBound ? { newestId: Number(newestId), count: Number(count) } : undefined
  return { id, bound }
}

function digestOf({ wallet, tool, input }: ConfirmedCall): string {
  return createHash('sha256').update(canonicalJson({ wallet, tool, input })).digest('hex')
}
