import type { FieldError } from '#src/kernel/errors.ts'

/** The parts of a body that say where something goes. */
export interface TypedInput {
  readonly address?: string | undefined
  readonly url?: string | undefined
  readonly rotateSecret?: boolean | undefined
}

/** A destination made of what somebody typed in, as it is to be stored. */
export interface TypedDestination<Destination = unknown> {
  readonly destination: Destination
  /** A signing secret made for it, to be shown once. */
  readonly secret?: string
  /** It is another place than before. */
  readonly moved: boolean
}

/** How a channel's destination is typed in. */
export interface DestinationForm<Destination> {
  /** The parts it takes. */
  readonly parts: readonly (keyof TypedInput)[]
  /** The one a new destination cannot do without. */
  readonly required: keyof TypedInput
  /** What is wrong with the parts that are there; [] when nothing is. */
  check(input: TypedInput): readonly FieldError[]
  /** A new destination of parts that are there and right. */
  make(input: TypedInput): TypedDestination<Destination>
  /** What the parts change about a destination; undefined when nothing. */
  change(
    before: Destination,
    input: TypedInput,
    now: Date,
  ): TypedDestination<Destination> | undefined
}
