import type { Clock } from '#src/kernel/clock.ts'
import type { ChatHooks } from '../chat-hooks.ts'
import type { ProviderSimulation } from '../devnet/provider-simulation.ts'
import type { RpcProxy } from '../devnet/rpc-proxy.ts'
import type { DevnetWithContracts } from '../devnet.ts'
import type { Inbox } from '../inbox.ts'
import type { Receiver } from '../receiver.ts'
import type { TelegramAccounts } from '../telegram/accounts.ts'
import type { TelegramApi } from '../telegram-api.ts'
import type { XrplServer } from '../xrpl.ts'
import type { TopupPayer } from './topups.ts'

/** Name of the provider to which scenarios give faults. */
export const FAULTY_PROVIDER = 'Alpha'

/** The parts of a world besides its pages. */
export interface WorldParts {
  /** URL of the sandbox's pages, without a trailing slash. */
  readonly url: string
  readonly service: {
    readonly publicUrl: string
    /** Health and metrics. */
    readonly internalUrl: string
  }
  /** Host and port of PostgreSQL. */
  readonly database: string
  /** The clock of this world. */
  readonly clock: Clock
  /** The chain, with the payment router, tokens and price feeds, which are always fresh. */
  readonly devnet: DevnetWithContracts
  /** Data providers on that chain, in its rounds and reward epochs. */
  readonly simulation: ProviderSimulation
  /** A server of the XRP Ledger. */
  readonly xrpl: XrplServer
  readonly topups: TopupPayer
  /** Proxy between the service and the chain. */
  readonly rpc: RpcProxy
  readonly telegram: TelegramApi
  readonly telegramAccounts: TelegramAccounts
  readonly inbox: Inbox
  readonly receiver: Receiver
  /** Discord, Slack, ntfy and PagerDuty. */
  readonly hooks: ChatHooks
  /**
   * Advances the time of the chain and of all other parts.
   *
   * @param seconds how far, from the time when earlier skips have ended
   */
  skip(seconds: (now: Date) => number): Promise<void>
}
