/** Destinations that somebody types in: what an input means for a channel, and what it changes. */
import type { ChannelKey } from '#src/channels/define.ts'
import { checkWebhookUrl } from '#src/channels/safe-fetch.ts'
import { makeSecret, rotateSecret, WebhookDestination } from '#src/channels/webhook.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'

/** The parts of a body that say where something goes. */
export interface TypedInput {
  readonly address?: string | undefined
  readonly url?: string | undefined
  readonly rotateSecret?: boolean | undefined
}

/** A destination as it is to be stored. */
export interface TypedDestination {
  readonly destination: unknown
  /** A signing secret made for it, to be shown once. */
  readonly secret?: string
  /** It is another place than before. */
  readonly moved: boolean
}

type Part = keyof TypedInput

/** What each channel's destination is typed as. A linked one is not typed. */
const PARTS: Readonly<Record<ChannelKey, readonly Part[]>> = {
  telegram: [],
  email: ['address'],
  webhook: ['url', 'rotateSecret'],
}

/**
 * The destination an input means for a channel that has none yet.
 *
 * @throws AppError invalid `validation_failed`
 */
export function newDestination(
  channel: 'email' | 'webhook',
  input: TypedInput,
  allowPrivateUrls: boolean,
): TypedDestination {
  const required = channel === 'email' ? 'address' : 'url'
  const missing = input[required] === undefined
  refuse([
    ...surplus(channel, input),
    ...(missing ? [{ pointer: `/${required}`, code: 'required' }] : []),
    ...wrongUrl(input.url, allowPrivateUrls),
  ])
  if (channel === 'email') return { destination: { address: input.address }, moved: true }
  const secret = makeSecret()
  return { destination: { url: input.url, secret }, secret, moved: true }
}

/**
 * What an input changes about a destination; undefined when nothing.
 *
 * A secret belongs to its URL: another URL gets another secret, so that who received at the old one
 * cannot write in our name to the new one. Rotation keeps the URL and lets both secrets sign for 24 h.
 *
 * @param destination as stored
 * @throws AppError invalid `validation_failed`
 */
export function changedDestination(
  channel: ChannelKey,
  destination: unknown,
  input: TypedInput,
  options: { readonly allowPrivateUrls: boolean; readonly now: Date },
): TypedDestination | undefined {
  refuse([...surplus(channel, input), ...wrongUrl(input.url, options.allowPrivateUrls)])
  switch (channel) {
    case 'telegram':
      return undefined
    case 'email':
      if (input.address === undefined || isSameAddress(destination, input.address)) return undefined
      return { destination: { address: input.address }, moved: true }
    case 'webhook': {
      const before = WebhookDestination.parse(destination)
      const secret = makeSecret()
      if (input.url !== undefined && URL.parse(input.url)?.href !== URL.parse(before.url)?.href) {
        return { destination: { url: input.url, secret }, secret, moved: true }
      }
      if (!input.rotateSecret) return undefined
      return { destination: rotateSecret(before, secret, options.now), secret, moved: false }
    }
    default:
      return channel satisfies never
  }
}

function isSameAddress(destination: unknown, address: string): boolean {
  return addressOf(destination)?.toLowerCase() === address.toLowerCase()
}

/** The mailbox of a stored destination; undefined for every other kind. */
export function addressOf(destination: unknown): string | undefined {
  const isMailbox =
    typeof destination === 'object' && destination !== null && 'address' in destination
  return isMailbox && typeof destination.address === 'string' ? destination.address : undefined
}

function surplus(channel: ChannelKey, input: TypedInput): FieldError[] {
  const parts: readonly Part[] = ['address', 'url', 'rotateSecret']
  return parts
    .filter((part) => input[part] !== undefined && !PARTS[channel].includes(part))
    .map((part) => ({ pointer: `/${part}`, code: 'unknown' }))
}

function wrongUrl(url: string | undefined, allowPrivateUrls: boolean): FieldError[] {
  const problem = url === undefined ? undefined : checkWebhookUrl(url, allowPrivateUrls)
  return problem === undefined ? [] : [{ pointer: '/url', code: problem }]
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}
