/** Validates typed input for a destination, and creates or changes the destination by it. */
import type { Channel } from '#src/channels/define.ts'
import type { DestinationInput, TypedDestination } from '#src/channels/destination-form.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'

/**
 * Builds a new destination of a channel from an input.
 *
 * @throws AppError invalid `validation_failed`; conflict `use_telegram_link` for a channel whose
 * destinations are not typed
 */
export function newDestination(
  channel: Channel<unknown>,
  input: DestinationInput,
): TypedDestination {
  const { form } = channel
  if (form === undefined) throw new AppError('conflict', 'use_telegram_link')
  const isMissing = input[form.required] === undefined
  throwIfInvalid([
    ...unknownFields(channel, input),
    ...(isMissing ? [{ pointer: `/${form.required}`, code: 'required' }] : []),
    ...form.check(input),
  ])
  return form.make(input)
}

/**
 * Applies an input to a stored destination. Undefined if the input changes nothing.
 *
 * @param destination the stored destination
 * @throws AppError invalid `validation_failed`
 */
export function changedDestination(
  channel: Channel<unknown>,
  destination: unknown,
  input: DestinationInput,
  now: Date,
): TypedDestination | undefined {
  throwIfInvalid([...unknownFields(channel, input), ...(channel.form?.check(input) ?? [])])
  return channel.form?.change(destination, input, now)
}

/** The mailbox of a decrypted destination; undefined for channels other than e-mail. */
export function addressOf(destination: unknown): string | undefined {
  const isMailbox =
    typeof destination === 'object' && destination !== null && 'address' in destination
  return isMailbox && typeof destination.address === 'string' ? destination.address : undefined
}

function unknownFields({ form }: Channel<unknown>, input: DestinationInput): FieldError[] {
  const parts = ['address', 'url', 'rotateSecret'] as const
  return parts
    .filter((part) => input[part] !== undefined && !form?.parts.includes(part))
    .map((part) => ({ pointer: `/${part}`, code: 'unknown' }))
}

function throwIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}
