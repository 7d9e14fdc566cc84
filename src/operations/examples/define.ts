import type { z } from 'zod'
import type { JsonObject } from '#src/kernel/units.ts'

/** What the description shows of an operation, as it crosses the wire. */
export interface OperationExample {
  readonly request?: JsonObject
  /** The answer; text where it is not JSON. */
  readonly response?: JsonObject | string
  /** The answer with the other status, where the operation has one. */
  readonly queued?: JsonObject
}

/**
 * The examples of a module of operations, by export, which is the operation's id: a body needs a
 * `request` and an answer a `response`, and what has neither stays away.
 */
export type ExamplesOf<Module> = {
  readonly [Id in keyof Module as Shown<Module[Id]> extends never ? never : Id]: Shown<Module[Id]>
}

type Shown<One> = [BodyOf<One>, AnswerOf<One>] extends [undefined, undefined]
  ? never
  : RequestOf<BodyOf<One>> & ResponseOf<AnswerOf<One>> & Pick<OperationExample, 'queued'>

type BodyOf<One> = One extends { readonly body?: z.ZodType<infer Body> } ? Body : undefined

type AnswerOf<One> = One extends { handle(input: never, prepared: never): Promise<void> }
  ? undefined
  : One extends { handle(input: never, prepared: never): Promise<infer Output> }
    ? Output
    : never

type RequestOf<Body> = [Body] extends [undefined]
  ? { readonly request?: never }
  : { readonly request: JsonObject }

type ResponseOf<Answer> = [Answer] extends [undefined]
  ? { readonly response?: never }
  : { readonly response: Answer extends AsyncIterable<string> ? string : JsonObject }
