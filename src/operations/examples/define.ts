import type { z } from 'zod'
import type { JsonObject } from '#src/kernel/units.ts'

/** Example of an operation in the OpenAPI document, encoded. */
export interface OperationExample {
  readonly request?: JsonObject
  /** The response; text if it is not JSON. */
  readonly response?: JsonObject | string
  /** The response with the other status, if the operation has one. */
  readonly queued?: JsonObject
}

/**
 * Examples of a module of operations, by export, which is the operation's id: an operation with a body
 * needs a `request`, one with an output a `response`; others have no example.
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
