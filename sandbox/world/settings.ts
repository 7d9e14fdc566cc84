import { randomBytes } from 'node:crypto'
import { type Config, loadConfig } from '#src/config.ts'
import type { PaymentContractAddresses } from '../devnet/deployment.ts'
import { CONTRACTS } from '../devnet/fsp/contract-addresses.ts'
import type { DataUpstream } from './data-upstream.ts'
import type { ProtocolData } from './protocol-data.ts'

/** Addresses of the parts of a world. */
export interface PartAddresses {
  readonly servicePort: number
  readonly internalPort: number
  readonly rpcUrl: string
  /** WebSocket of the same chain. */
  readonly socketUrl: string
  readonly telegramUrl: string
  readonly smtpUrl: string
  readonly termsUrl: string
  readonly contracts: PaymentContractAddresses
  /** Private key of the account that sends the payments of calls. */
  readonly settlementKey: `0x${string}`
  readonly xrpl: { readonly url: string; readonly address: string }
  /** URLs of the metered data. */
  readonly dataUrls: DataUpstream['urls']
  /** URLs of published data about providers and their rewards. */
  readonly published: Pick<ProtocolData, 'passesUrl' | 'rewardsUrl' | 'pChainUrl'>
}

export const BOT_USERNAME = 'WatchdogSandboxBot'
/** New blocks wake the observers at once; rounds and payments are looked for at this interval. */
const EVALUATION_INTERVAL_MS = 1000
const TERMS_VERSION = 'sandbox-1'
/** Price of the service's own token: a tenth of a cent. */
const SERVICE_TOKEN_USD_MICROS = 1000

/** Creates a random token of the right form. */
export function makeBotToken(): string {
  return `7000000001:${randomBytes(27).toString('base64url')}`
}

/** The service's configuration, parsed like an environment. */
export function configFor(places: PartAddresses, botToken: string): Config {
  return loadConfig({
    PUBLIC_URL: `http://127.0.0.1:${places.servicePort}`,
    PORT: `${places.servicePort}`,
    INTERNAL_PORT: `${places.internalPort}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    FLARE_RPC_URLS: places.rpcUrl,
    // The chain on this machine takes any number of requests.
    FLARE_RPC_PER_MINUTE: '60000',
    // A jump of the time keeps new blocks back, on a slow machine for many seconds.
    FLARE_RPC_TIMEOUT_MS: '30000',
    FLARE_WS_URLS: places.socketUrl,
    EVALUATION_INTERVAL_MS: `${EVALUATION_INTERVAL_MS}`,
    TERMS_VERSION,
    TERMS_URL: places.termsUrl,
    TELEGRAM_BOT_TOKEN: botToken,
    TELEGRAM_API_ROOT: places.telegramUrl,
    SMTP_URL: places.smtpUrl,
    EMAIL_FROM: 'Watchdog <alerts@watchdog.example>',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PROVIDER_DATASET_URL: places.published.passesUrl,
    REWARD_DATA_URLS: places.published.rewardsUrl,
    P_CHAIN_RPC_URL: places.published.pChainUrl,
    ...paymentSettings(places),
  })
}

/** Settings of all payment assets and metered resources. */
function paymentSettings({
  contracts,
  xrpl,
  dataUrls,
  settlementKey,
}: PartAddresses): Readonly<Record<string, string>> {
  return {
    FLARE_CONTRACT_REGISTRY: contracts.registry,
    FORMER_SUBMISSION_ADDRESSES: CONTRACTS.oldSubmission,
    PAYMENT_ROUTER: contracts.router,
    NATIVE_PAY_TO: contracts.payTo,
    X402_SETTLEMENT_KEY: settlementKey,
    SERVICE_TOKEN_SYMBOL: 'WDG',
    SERVICE_TOKEN_ADDRESS: contracts.serviceToken,
    SERVICE_TOKEN_USD_MICROS: `${SERVICE_TOKEN_USD_MICROS}`,
    WFLR_ADDRESS: contracts.wflr,
    FXRP_ADDRESS: contracts.fxrp,
    XRPL_RPC_URL: xrpl.url,
    XRPL_DEPOSIT_ADDRESS: xrpl.address,
    METERED_UPSTREAMS: JSON.stringify(dataUrls),
  }
}
