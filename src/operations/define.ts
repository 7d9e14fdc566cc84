import type { z } from 'zod'
import type { Metering } from '#src/billing/metering/service.ts'
import type { ResourceId } from '#src/billing/price-list.ts'
import type { PaymentSetup } from '#src/billing/topups/model.ts'
import type { PaymentOptions } from '#src/billing/topups/payment-options.ts'
import type { Xrpl } from '#src/chain/xrpl.ts'
import type { Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller, LinkCaller, LinkScope, Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { ErrorCode, FieldError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Notices } from '#src/notices/service.ts'
import type { Facts } from '#src/watches/facts.ts'
import type { Limits, RateClass } from './limits.ts'

/** Everything a verb may need, built once in `app.ts`. Verbs name only the parts they use. */
export interface App {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Counts and logs rows that cannot be processed. */
  readonly quarantine: Quarantine
  readonly chain: FspChain
  /** What is remembered of the chain's past, and published beside it. */
  readonly facts: Facts
  /** Undefined: XRP is not set up. */
  readonly xrpl: Xrpl | undefined
  /** Prices and availability of the ways to pay. */
  readonly paymentOptions: PaymentOptions
  /** Charges metered calls. */
  readonly metering: Metering
  readonly channels: Channels
  /** Tells a wallet's people about the service itself. */
  readonly notices: Notices
  readonly box: SecretBox
  /** Counts requests at all front doors of this process. */
  readonly limits: Limits
  /** The service's public address, without a trailing slash. */
  readonly publicUrl: string
  /** The bot's username without `@`; undefined while Telegram is not set up or not reached yet. */
  readonly botUsername: () => string | undefined
  /** Every operation with a route, for the document that describes them. */
  readonly operations: readonly AnyOperation[]
  readonly chainId: number
  /** Blocks counted from the tip, itself included, before a block is believed. */
  readonly confirmations: number
  readonly billing: {
    readonly enabled: boolean
    readonly chainName: string
    readonly serviceTokenSymbol: string
    readonly terms: { readonly version: string; readonly url: string }
    readonly payments: PaymentSetup
    /** Metered resources that can be called here. */
    readonly resources: readonly ResourceId[]
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a handler is given: everything decoded. `caller` is undefined only where the scope is `none`. */
export interface OperationInput<Params, Query, Body, C> {
  readonly app: App
  readonly caller: C
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Language of the answer's own texts. */
  readonly locale: Locale
  /** The `If-Match` value of the request, if any. */
  readonly ifMatch: string | undefined
}

/** What an operation asks of its caller: a scope, a link of one kind, or nothing. */
export type Access = Scope | LinkScope | 'none'

/** The caller that the handler of an operation finds. */
type CallerOf<S extends Access> = S extends 'none'
  ? undefined
  : S extends LinkScope
    ? LinkCaller
    : Caller

/** One thing a caller may ask for, by any front door: its checks and its handler. */
export interface Operation<Params, Query, Body, Output, S extends Access, Prepared = unknown> {
  /** Unique among all operations. */
  readonly id: string
  readonly scope: S
  /** Another scope instead of `scope`, when the body says so. */
  readonly otherScope?: { readonly scope: Scope; when(body: Body): boolean }
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** What else is wrong with a body, as sent, that only the running service can tell. */
  wrong?(app: App, body: unknown): readonly FieldError[]
  /** Without a body the request may also send none at all. */
  readonly bodyOptional?: boolean
  readonly output?: z.ZodType<Output>
  /** The rate limit per caller; counted where the front door names who is counted. */
  readonly rate?: RateClass
  /** A rate limit per wallet and target at all front doors, counted once the target is known to exist. */
  readonly targetRate?: {
    readonly rate: RateClass
    /** A name of the target that no other target of the wallet has. @throws AppError not_found */
    find(
      input: Pick<
        OperationInput<Params, Query, Body, CallerOf<S>>,
        'app' | 'caller' | 'params' | 'body'
      >,
    ): Promise<string>
  }
  /**
   * Asks what lies outside the database. It runs before `handle`, which of an idempotent operation runs inside
   * a transaction.
   */
  prepare?(input: OperationInput<Params, Query, Body, CallerOf<S>>): Promise<Prepared>
  handle(
    input: OperationInput<Params, Query, Body, CallerOf<S>>,
    prepared: Prepared,
  ): Promise<Output>
}

/** An operation of the REST API: route, explanation and OpenAPI come from this entry, too. */
export interface RoutedOperation<
  Params,
  Query,
  Body,
  Output,
  S extends Scope | 'none',
  Prepared = unknown,
> extends Operation<Params, Query, Body, Output, S, Prepared> {
  /** Also the OpenAPI operationId and the key of its texts in operations.json. */
  readonly id: string
  readonly method: Method
  /** Below `/api/x402`, parameters in braces. */
  readonly path: string
  readonly rate: RateClass
  /** Not among the operations of the specification: `x-extension` in the OpenAPI document. */
  readonly isExtension?: true
  /** Accepts `Idempotency-Key`. */
  readonly idempotent?: boolean
  /** The status of success. */
  readonly status: number
  /** Error codes of the handler, besides those that follow from the other facts of the entry. */
  readonly errors?: readonly ErrorCode[]
  /** Another status for some answers: 202 for what is only queued. */
  readonly queued?: { readonly status: number; when(output: Output): boolean }
  /** The body can name a row that is not there: answers 404, as operations with a path parameter do. */
  readonly namesRow?: boolean
  /** The answer's media type where it is not JSON; the handler then gives the text in pieces. */
  readonly produces?: 'text/csv'
  /** Answers `Cache-Control: no-store`. True for all whose answer may show a secret. */
  readonly noStore?: boolean
  /**
   * The handler gives the same object as long as the answer is the same, and never changes it: its text and tag
   * are made once.
   */
  readonly isConstant?: boolean
  /** Answers a strong ETag, from the output alone. */
  etag?(output: Output): string
  /** `Location` of what was created. */
  location?(output: Output): string
}

/**
 * Any entry that answers with `Output`. Inputs pass its own schemas before its own handler sees them. The facts of
 * a route are there only where it has one.
 */
export type Answering<Output> = Operation<unknown, unknown, unknown, Output, Access> &
  Pick<
    Partial<RoutedOperation<unknown, unknown, unknown, Output, Scope>>,
    'idempotent' | 'status' | 'queued'
  >

/** Any entry of the registry. */
export type AnyOperation = RoutedOperation<unknown, unknown, unknown, unknown, Scope | 'none'>

/** An operation with a route. Gives the entry back with its types joined. */
export function defineOperation<
  Params = undefined,
  Query = undefined,
  Body = undefined,
  Output = undefined,
  S extends Scope | 'none' = 'read',
  Prepared = undefined,
>(
  operation: RoutedOperation<Params, Query, Body, Output, S, Prepared>,
): RoutedOperation<Params, Query, Body, Output, S> {
  return operation
}

/** An operation of the bot that the REST API does not have; no document names it. */
export function defineChatOperation<
  Params = undefined,
  Query = undefined,
  Body = undefined,
  Output = undefined,
  S extends Scope | 'none' = 'read',
>(
  operation: Operation<Params, Query, Body, Output, S, undefined>,
): Operation<Params, Query, Body, Output, S> {
  return operation
}

/** An operation of a page, allowed for links of one kind; no document names it. */
export function defineLinkOperation<
  Params = undefined,
  Query = undefined,
  Body = undefined,
  Output = undefined,
  S extends LinkScope = LinkScope,
>(
  operation: Operation<Params, Query, Body, Output, S, undefined>,
): Operation<Params, Query, Body, Output, S> {
  return operation
}
