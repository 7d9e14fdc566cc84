import type { FieldError } from '#src/kernel/errors.ts'

/** Parts of a request body that define a destination. */
export interface TypedInput {
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
  readonly parts: readonly (keyof TypedInput)[]
  /** The part that a new destination needs. */
  readonly required: keyof TypedInput
  /** Errors of the given parts; empty if there are none. */
  check(input: TypedInput): readonly FieldError[]
  /** Creates a destination from valid parts. */
  make(input: TypedInput): TypedDestination<Destination>
  /** Changes of a destination by the given parts; undefined if there are none. */
  change(
    before: Destination,
    input: TypedInput,
    now: Date,
  ): TypedDestination<Destination> | undefined
}
