/**
 * Confirmations of calls that spend or delete: a signed text for one wallet, tool and arguments.
 * Confirmations are not stored. The id of a confirmation is the idempotency key of the call, so a charge
 * happens once.
 */
import { createHash, randomBytes } from 'node:crypto'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'

/** Time in which a confirmation can be used. */
const LIFETIME_MS = 5 * MINUTE_MS
const PURPOSE = 'mcp confirmation'
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
): { readonly confirmation: string; readonly expiresAt: Date } {
  const expiresAt = new Date(clock.now().getTime() + LIFETIME_MS)
  const id = randomBytes(ID_BYTES).toString('hex')
  const payload = [id, expiresAt.getTime(), digestOf(call)].join('.')
  return { confirmation: box.signLink(PURPOSE, payload), expiresAt }
}

/** The id of a confirmation; undefined if the confirmation is of another call, or expired. */
export function readConfirmation(
  { box, clock }: Deps,
  confirmation: string,
  call: ConfirmedCall,
): string | undefined {
  const [id, expiresAtMs, digest] = box.readLink(PURPOSE, confirmation)?.split('.') ?? []
  const isInTime = Number(expiresAtMs) > clock.now().getTime()
  return isInTime && digest === digestOf(call) ? id : undefined
}

function digestOf({ wallet, tool, input }: ConfirmedCall): string {
  return createHash('sha256').update(canonicalJson({ wallet, tool, input })).digest('hex')
}
