import type { FieldError } from '#src/kernel/errors.ts'

/** Parts of a request body that define a destination. */
export interface DestinationInput {
  readonly address?: string | undefined
  readonly url?: string | undefined
  readonly rotateSecret?: boolean | undefined
}

/** A destination to store, created from typed input. */
export interface TypedDestination<Destination = unknown> {
  readonly destination: Destination
  /** New signing secret, shown once. */
  readonly secret?: string
  /** Whether the address is new or differs from the previous one. */
  readonly isAddressChanged: boolean
}

/** Form of a channel's typed destination. */
export interface DestinationForm<Destination> {
  /** Parts that the channel accepts. */
  readonly parts: readonly (keyof DestinationInput)[]
  /** The part that a new destination needs. */
  readonly required: keyof DestinationInput
  /** Errors of the given parts; empty if there are none. */
  check(input: DestinationInput): readonly FieldError[]
  /** Creates a destination from valid parts. */
  make(input: DestinationInput): TypedDestination<Destination>
  /** Changes of a destination by the given parts; undefined if there are none. */
  change(
    before: Destination,
    input: DestinationInput,
    now: Date,
  ): TypedDestination<Destination> | undefined
}
