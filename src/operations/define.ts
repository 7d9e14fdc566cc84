import type { z } from 'zod'
import type { EvidenceChain } from '#src/alerts/evidence/chain.ts'
import type { DirectPayments } from '#src/billing/direct/service.ts'
import type { Metering } from '#src/billing/metering/service.ts'
import type { ResourceId } from '#src/billing/price-list.ts'
import type { PaymentSetup } from '#src/billing/topups/model.ts'
import type { PaymentOptions } from '#src/billing/topups/payment-options.ts'
import type { Xrpl } from '#src/chain/xrpl/xrpl.ts'
import type { Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Replica } from '#src/db/replica.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller, LinkCaller, LinkScope, Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { ErrorCode, FieldError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Notices } from '#src/notices/service.ts'
import type { SentMessageIds } from '#src/recipients/chats.ts'
import type { Backtests } from '#src/watches/backtest/backtest.ts'
import type { UsualBacktests } from '#src/watches/backtest/usual.ts'
import type { WatchTypeFacts } from '#src/watches/facts.ts'
import type { LookUps } from '#src/watches/look-up.ts'
import type { RateClass, RequestLimits } from './gate/limits.ts'

/** Dependencies of all verbs, created once in `app.ts`. Verbs name only the parts that they use. */
export interface App {
  readonly db: Db
  /** A copy of the database for lists, which may be a little behind; undefined if there is none. */
  readonly replica?: Replica | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Counts what this process does, for the operator. */
  readonly meters: Meters
  /** Counts and logs rows that cannot be processed. */
  readonly quarantine: Quarantine
  readonly chain: FspChain
  /** Stored facts about the chain's past, and published data. */
  readonly facts: WatchTypeFacts
  /** Answers about addresses and providers for people who have not signed in. */
  readonly lookUps: LookUps
  /** Reads the chain for the evidence of alerts. */
  readonly evidence: EvidenceChain
  /** Replays watches over the stored past. */
  readonly backtests: Backtests
  readonly usualBacktests: UsualBacktests
  /** Client of the XRP Ledger; undefined if XRP is not configured. */
  readonly xrpl: Xrpl | undefined
  /** Prices and availability of the payment assets. */
  readonly paymentOptions: PaymentOptions
  /** Charges metered calls. */
  readonly metering: Metering
  /** Takes payments that metered calls carry; undefined if they are not configured. */
  readonly directPayments: DirectPayments | undefined
  readonly channels: Channels
  readonly sentMessages: SentMessageIds
  /** What chats remember of wallets. `bot`, which rooms below it must not import, implements it. */
  readonly chats: {
    /** Deletes it for a wallet, and all data of chats that no wallet has any more. */
    forgetWallet(
      tx: Db,
      of: { readonly wallet: string; readonly chatIds: readonly number[] },
    ): Promise<void>
  }
  /** Sends notices about the service to the people of a wallet. */
  readonly notices: Notices
  readonly box: SecretBox
  /** Limits requests at all front doors. */
  readonly limits: RequestLimits
  /** Public URL of the service, without a trailing slash. */
  readonly publicUrl: string
  /** Where people reach the operator, an https or mailto URL; undefined if the operator names nothing. */
  readonly supportUrl: string | undefined
  /** Whether this process sends nothing to anybody, as in a drill with a restored backup. */
  readonly sendsNothing: boolean
  /**
   * The bot's username without `@`; undefined while Telegram is not configured or has not responded yet.
   */
  readonly botUsername: () => string | undefined
  /** Every operation with a route, for the OpenAPI document. */
  readonly operations: readonly AnyOperation[]
  readonly chainId: number
  /** Number of confirmations after which a block counts as final; the tip has one. */
  readonly confirmations: number
  readonly billing: {
    readonly enabled: boolean
    readonly chainName: string
    readonly serviceTokenSymbol: string
    readonly terms: { readonly version: string; readonly url: string }
    readonly payments: PaymentSetup
    /** Metered resources that are available here. */
    readonly resources: readonly ResourceId[]
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Decoded input of a handler. `caller` is undefined only for the scope `none`. */
export interface OperationInput<Params, Query, Body, C> {
  readonly app: App
  readonly caller: C
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Language of texts in the output. */
  readonly locale: Locale
  /** `If-Match` header of the request, if any. */
  readonly ifMatch: string | undefined
  /** Rows that the call may affect at most; undefined without a limit. */
  readonly bound?: RowBound | undefined
}

/** Rows that a call by filter would affect at the time of its preview. */
export interface RowBound {
  /** Highest id among them; 0 if there are none. */
  readonly newestId: number
  readonly count: number
}

/** Right that an operation needs: a scope, a link of one kind, or none. */
export type Access = Scope | LinkScope | 'none'

/** Caller of an operation with this right. */
type CallerOf<S extends Access> = S extends 'none'
  ? undefined
  : S extends LinkScope
    ? LinkCaller
    : Caller

/** An operation for any front door: its checks and its handler. */
export interface Operation<Params, Query, Body, Output, S extends Access, Prepared = unknown> {
  /** Id, unique among all operations. */
  readonly id: string
  readonly scope: S
  /** Another scope instead of `scope`, depending on the body. */
  readonly otherScope?: { readonly scope: Scope; when(body: Body): boolean }
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Returns errors of a body, as sent, that its schema cannot detect because they depend on the configuration. */
  checkBody?(app: App, body: unknown): readonly FieldError[]
  /** Whether the request may have no body. */
  readonly bodyOptional?: boolean
  readonly output?: z.ZodType<Output>
  /** Whether a chat operation changes nothing; of an operation with a route its method says so. */
  readonly isRead?: true
  /** Whether the operation reads from the copy of the database, if there is a copy and it answers. */
  readonly readsReplica?: true
  /** Rate limit per caller; counted if the front door gives a key. */
  readonly rate?: RateClass
  /** Maximum number of rows that a call renders, by which it counts for its wallet; none by default. */
  rows?(query: Query): number
  /** Rate limit per wallet and target at all front doors, counted once the target is known to exist. */
  readonly targetRate?: {
    readonly rate: RateClass
    /**
     * Returns a key that is unique among the wallet's targets.
     * @throws AppError not_found
     */
    find(
      input: Pick<
        OperationInput<Params, Query, Body, CallerOf<S>>,
        'app' | 'caller' | 'params' | 'body'
      >,
    ): Promise<string>
  }
  /** Returns the current price of the call as JSON, for people who decide about it. */
  estimate?(input: OperationInput<Params, Query, Body, CallerOf<S>>): Promise<unknown>
  /**
   * Says in one or two sentences what the call would do, to which object, and at what price. Whatever deletes,
   * overwrites, silences, spends, accepts or hands out rights has it: for an agent, a person confirms such a call.
   *
   * @throws AppError not_found when the object does not exist
   */
  summarize?(input: OperationInput<Params, Query, Body, CallerOf<S>>): Promise<string>
  /** Whether a call with this body needs no confirmation, because it only adds something. */
  onlyAdds?(body: Body): boolean
  /** Returns the rows that a call by filter would affect now. The handler affects no others if it gets this bound. */
  readBound?(input: OperationInput<Params, Query, Body, CallerOf<S>>): Promise<RowBound>
  /**
   * Requests data from outside the database. Runs before `handle`, which for an idempotent operation runs
   * inside a transaction.
   */
  prepare?(input: OperationInput<Params, Query, Body, CallerOf<S>>): Promise<Prepared>
  handle(
    input: OperationInput<Params, Query, Body, CallerOf<S>>,
    prepared: Prepared,
  ): Promise<Output>
}

/**
 * An operation of the REST API: this entry also defines its route, its description and its part of OpenAPI.
 */
export interface RoutedOperation<
  Params,
  Query,
  Body,
  Output,
  S extends Scope | 'none',
  Prepared = unknown,
> extends Operation<Params, Query, Body, Output, S, Prepared> {
  /** Id of the operation; also the OpenAPI operationId and the key of its texts in operations.json. */
  readonly id: string
  readonly method: Method
  /** Path below `/api/x402`, with parameters in braces. */
  readonly path: string
  /** Tag in the OpenAPI document and page in the reference; the first segment of the path if absent. */
  readonly tag?: string
  readonly rate: RateClass
  /**
   * Whether the operation is an addition to the specification, marked with `x-extension` in the OpenAPI
   * document.
   */
  readonly isExtension?: true
  /** Whether the operation accepts `Idempotency-Key`. */
  readonly idempotent?: boolean
  /** HTTP status of success. */
  readonly status: number
  /** Error codes of the handler, in addition to those that follow from other properties of the entry. */
  readonly errors?: readonly ErrorCode[]
  /** Another status for some outputs: 202 for queued work. */
  readonly queued?: { readonly status: number; when(output: Output): boolean }
  /**
   * Whether the body can name an unknown row. The operation then responds with 404, as operations with a
   * path parameter do.
   */
  readonly namesRow?: boolean
  /** Media type of the response if it is not JSON; the handler then returns the text in pieces. */
  readonly produces?: 'text/csv' | 'text/plain'
  /**
   * Whether to respond with `Cache-Control: no-store`. True for all responses that may contain a secret.
   */
  readonly noStore?: boolean
  /**
   * Whether the handler returns the same immutable object while the output is the same. JSON text and ETag are then
   * computed once for each object.
   */
  readonly isConstant?: boolean
  /** Returns what agents get of an output that is long for a model. Their description says what is left out. */
  forAgents?(output: Output): Output
  /** Returns a strong ETag, computed only from the output. */
  etag?(output: Output): string
  /** Returns the `Location` of a created resource. */
  location?(output: Output): string
}

/**
 * Any entry with this output. Inputs pass the schemas of the entry before its handler. Properties of a
 * route are present only if the entry has one.
 */
export type OperationWith<Output> = Operation<unknown, unknown, unknown, Output, Access> &
  Pick<
    Partial<RoutedOperation<unknown, unknown, unknown, Output, Scope>>,
    'idempotent' | 'status' | 'queued' | 'method' | 'forAgents'
  >

/** Any entry of the registry. */
export type AnyOperation = RoutedOperation<unknown, unknown, unknown, unknown, Scope | 'none'>

/** Defines an operation with a route. */
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

/** An operation of chats or pages that the REST API does not have; no document names it. */
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
