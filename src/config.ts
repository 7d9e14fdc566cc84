import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { USDT0 } from '#src/billing/direct/model.ts'
import { RESOURCES } from '#src/billing/price-list.ts'
import { isClassicAddress } from '#src/chain/xrpl/xrpl-address.ts'
import { CHAINS } from '#src/kernel/chains.ts'
import { ROLES } from '#src/kernel/role.ts'
import { closeName } from '#src/kernel/similar.ts'
import { Address, Hash } from '#src/kernel/units.ts'
import {
  baseUrl,
  databaseUrl,
  datasetUrl,
  headers,
  httpUrl,
  isWsUrl,
  json,
  origin,
  pChainUrl,
  rpcHeaders,
  sender,
  supportUrl,
} from './config-addresses.ts'

const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
/** A number in decimal digits. `Number` would read spaces as 0, which is a free port. */
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine(
      (text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `a whole number from ${min} to ${max}`,
    )
    .transform(Number)
const port = wholeNumber(0, 65_535)
const commaList = z.string().transform((text) => text.split(',').map((part) => part.trim()))
const ADDRESS_HINT = 'an address of 0x and 40 hex digits, in one case or with its checksum'
const address = z
  .string()
  .refine((text) => Address.safeParse(text).success, ADDRESS_HINT)
  .transform((text) => z.decode(Address, text))
const xrplAddress = z.string().refine(isClassicAddress, 'a classic address (r…)')
const microUsd = z.string().regex(/^[1-9]\d{0,14}$/, 'a whole number of micro-dollars')
const secretKey = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === 32, '32 bytes in base64')
  .transform((text) => Buffer.from(text, 'base64'))
const privateKey = z
  .string()
  .refine(isPrivateKey, 'a private key of 0x and 64 hex digits')
  .transform((text) => z.decode(Hash, text))
/** Resource ids and base URLs, as JSON. */
const upstreams = json.pipe(z.partialRecord(z.enum(RESOURCES), baseUrl))
/** Timeout of each endpoint in milliseconds, by its position; an empty one has the usual timeout. */
const rpcTimeouts = commaList.pipe(
  z.array(
    z
      .string()
      .regex(/^([1-9]\d{2,4})?$/, 'a number of milliseconds from 100 to 99999, or nothing')
      .transform((text) => (text === '' ? undefined : Number(text))),
  ),
)
/** Maximum number of requests per minute of each endpoint, by its position; an empty one is learned. */
const rpcPerMinute = commaList.pipe(
  z.array(
    z
      .string()
      .regex(/^([1-9]\d{0,5})?$/, 'a number of requests per minute from 1 to 999999, or nothing')
      .transform((text) => (text === '' ? undefined : Number(text))),
  ),
)
/** WebSocket of each endpoint, by its position; an empty one has none. */
const wsUrls = commaList.pipe(
  z.array(
    z
      .string()
      .refine((text) => text === '' || isWsUrl(text), 'a ws or wss URL, or nothing')
      .transform((text) => (text === '' ? undefined : text)),
  ),
)
/** Default limit. Many people may share an address, and a browser opens at most six connections. */
const CONNECTIONS_PER_ADDRESS = 256
/** Tickers of the other payment assets, which the service's own token must not have. */
const TAKEN_SYMBOLS = [...CHAINS.flatMap(({ symbol }) => [symbol, `W${symbol}`]), 'XRP', 'FXRP']

/** Schema of the whole environment. Names are fixed; `.env.example` explains each. */
const Environment = z.object({
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOLER_URL: databaseUrl.optional(),
  DATABASE_READ_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  PUBLIC_URL: origin,
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  INTERNAL_HOST: z.string().optional(),
  INTERNAL_PORT: port.default(9090),
  TRUST_PROXY: z
    .string()
    .refine(isTrustProxy, 'a number of hops, or addresses and CIDRs')
    .optional(),
  CONNECTIONS_PER_ADDRESS: wholeNumber(0, 100_000).optional(),
  SECRET_KEY: secretKey,
  SECRET_KEY_PREVIOUS: secretKey.optional(),
  HEARTBEAT_URL: httpUrl.optional(),
  SUPPORT_URL: supportUrl.optional(),
  ROLES: commaList.pipe(z.array(z.enum(ROLES)).min(1)).default([...ROLES]),
  SEND_NOTHING: flag.default(false),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug', 'silent']).default('info'),
  CHAIN_ID: z
    .string()
    .refine(
      (text) => CHAINS.some(({ id }) => String(id) === text),
      `one of ${CHAINS.map(({ id, name }) => `${id} (${name})`).join(', ')}`,
    )
    .transform(Number)
    .default(14),
  CHAIN_NAME: z.string().optional(),
  FLARE_RPC_URLS: commaList.pipe(z.array(httpUrl).min(1)),
  FLARE_RPC_HEADERS: rpcHeaders.default([]),
  FLARE_RPC_TIMEOUT_MS: rpcTimeouts.default([]),
  FLARE_RPC_PER_MINUTE: rpcPerMinute.default([]),
  FLARE_WS_URLS: wsUrls.default([]),
  FLARE_CONTRACT_REGISTRY: address.optional(),
  FORMER_SUBMISSION_ADDRESSES: commaList.pipe(z.array(address)).default([]),
  CONFIRMATIONS: wholeNumber(1, 100).default(2),
  EVALUATION_INTERVAL_MS: wholeNumber(50, 60_000).default(2000),
  BILLING_ENABLED: flag.default(true),
  TERMS_VERSION: z.string().optional(),
  TERMS_URL: z.url().optional(),
  SERVICE_TOKEN_SYMBOL: z
    .string()
    .regex(/^[A-Za-z0-9.]{1,12}$/, '1 to 12 letters, digits or dots')
    .refine((text) => !TAKEN_SYMBOLS.includes(text), 'another payment asset has this symbol')
    .default('WDG'),
  PAYMENT_ROUTER: address.optional(),
  NATIVE_PAY_TO: address.optional(),
  X402_SETTLEMENT_KEY: privateKey.optional(),
  X402_FACILITATOR_URL: httpUrl.optional(),
  SERVICE_TOKEN_ADDRESS: address.optional(),
  SERVICE_TOKEN_USD_MICROS: microUsd.transform(BigInt).optional(),
  WFLR_ADDRESS: address.optional(),
  FXRP_ADDRESS: address.optional(),
  XRPL_RPC_URL: httpUrl.optional(),
  XRPL_DEPOSIT_ADDRESS: xrplAddress.optional(),
  PROVIDER_DATASET_URL: datasetUrl.optional(),
  REWARD_DATA_URLS: commaList.pipe(z.array(httpUrl).min(1)).optional(),
  P_CHAIN_RPC_URL: pChainUrl.optional(),
  P_CHAIN_RPC_HEADERS: json.pipe(headers).optional(),
  METERED_UPSTREAMS: upstreams.default({}),
  TELEGRAM_BOT_TOKEN: z
    .string()
    .regex(/^\d+:[\w-]{30,}$/, 'a bot token')
    .optional(),
  TELEGRAM_API_ROOT: httpUrl.default('https://api.telegram.org'),
  TELEGRAM_WEBHOOK_SECRET: z
    .string()
    .regex(/^[\w-]{1,256}$/, '1 to 256 letters, digits, _ or -')
    .optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  EMAIL_FROM: sender.optional(),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
})

/** The service's configuration, grouped by room. */
export type Config = ReturnType<typeof shape> & {
  /** Variables that begin like those of the service, and are none: one line each. */
  readonly unknownVariables: readonly string[]
}

/** All problems of an environment, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads the configuration. Empty variables count as unset.
 *
 * @throws ConfigError with one line per missing or invalid variable
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(set)
  const unknown = unknownNames(set)
  const problems = parsed.success ? [] : problemsOf(parsed.error.issues, set)
  const billing = set['BILLING_ENABLED'] !== 'false'
  for (const name of ['TERMS_VERSION', 'TERMS_URL']) {
    if (billing && set[name] === undefined)
      problems.push(`${name} is missing (required while BILLING_ENABLED is true)`)
  }
  problems.push(...halfSetUp(set))
  if (parsed.success) problems.push(...surplus(parsed.data))
  if (!parsed.success || problems.length > 0) {
    throw new ConfigError([...problems, ...unknown.map(unknownText)])
  }
  return { ...shape(parsed.data), unknownVariables: unknown.map(unknownText) }
}

/** That a variable is unknown, with the known one that was probably meant. */
function unknownText(name: string): string {
  const meant = closeName(Object.keys(Environment.shape), name)
  return `${name} is unknown${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/**
 * Variables that begin like those of the service, and are none: misspelt ones. Their first word with its `_` is enough
 * to begin alike.
 */
function unknownNames(set: Readonly<Record<string, unknown>>): readonly string[] {
  const known = Object.keys(Environment.shape)
  const starts = new Set(known.flatMap((name) => /^[A-Z]+_/.exec(name) ?? []))
  return Object.keys(set).filter(
    (name) => !known.includes(name) && starts.has(/^[A-Z]+_/.exec(name)?.[0] ?? ''),
  )
}

/** Problems of settings by position that have no endpoint at their position. */
function surplus(env: z.output<typeof Environment>): readonly string[] {
  const endpoints = env.FLARE_RPC_URLS.length
  return (
    ['FLARE_RPC_HEADERS', 'FLARE_RPC_TIMEOUT_MS', 'FLARE_RPC_PER_MINUTE', 'FLARE_WS_URLS'] as const
  ).flatMap((name) =>
    env[name].length > endpoints
      ? [`${name} has ${env[name].length} entries for ${endpoints} FLARE_RPC_URLS`]
      : [],
  )
}

const TOKEN_ADDRESSES = ['SERVICE_TOKEN_ADDRESS', 'WFLR_ADDRESS', 'FXRP_ADDRESS'] as const
const PAIRS = [
  ['SMTP_URL', 'EMAIL_FROM'],
  ['SERVICE_TOKEN_ADDRESS', 'SERVICE_TOKEN_USD_MICROS'],
  ['XRPL_RPC_URL', 'XRPL_DEPOSIT_ADDRESS'],
] as const
const DIRECT_PAYMENTS = ['X402_SETTLEMENT_KEY', 'X402_FACILITATOR_URL'] as const

/** Problems of partly configured features. Features without any variable are off. */
function halfSetUp(set: Readonly<Record<string, string | undefined>>): readonly string[] {
  const has = (name: string) => set[name] !== undefined
  const tokens = TOKEN_ADDRESSES.flatMap((name) => set[name]?.toLowerCase() ?? [])
  return [
    ...PAIRS.flatMap(([first, second]) => {
      if (has(first) === has(second)) return []
      const [missing, present] = has(first) ? [second, first] : [first, second]
      return [`${missing} is missing (required with ${present})`]
    }),
    ...(has('P_CHAIN_RPC_HEADERS') && !has('P_CHAIN_RPC_URL')
      ? ['P_CHAIN_RPC_URL is missing (required with P_CHAIN_RPC_HEADERS)']
      : []),
    ...(has('PAYMENT_ROUTER') && tokens.length === 0
      ? [`PAYMENT_ROUTER needs a token to take: ${TOKEN_ADDRESSES.join(', ')}`]
      : []),
    ...directPaymentProblems(set),
    ...(new Set(tokens).size < tokens.length
      ? [`${TOKEN_ADDRESSES.join(', ')} must be different`]
      : []),
  ]
}

/** Direct payments go to `NATIVE_PAY_TO`, are sent in one of two ways, and need a token that only Flare has. */
function directPaymentProblems(
  set: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const [way, other] = DIRECT_PAYMENTS.filter((name) => set[name] !== undefined)
  if (way === undefined) return []
  const chain = set['CHAIN_ID'] ?? String(USDT0.chainId)
  return [
    ...(other === undefined ? [] : [`${way} and ${other} are set: set one of them`]),
    ...(set['NATIVE_PAY_TO'] === undefined
      ? [`NATIVE_PAY_TO is missing (required with ${way})`]
      : []),
    ...(chain === String(USDT0.chainId)
      ? []
      : [`${way} needs CHAIN_ID ${USDT0.chainId}: chain ${chain} has no USD₮0`]),
  ]
}

/** One line for each variable, with the first that is wrong with it. */
function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  set: Readonly<Record<string, unknown>>,
): string[] {
  const first = new Map(issues.toReversed().map(({ path, message }) => [String(path[0]), message]))
  const names = new Set(issues.map(({ path }) => String(path[0])))
  return [...names].map((name) =>
    set[name] === undefined ? `${name} is missing` : `${name} is wrong: ${first.get(name)}`,
  )
}

/** The configuration by subject. Long because it names every setting. */
function shape(env: z.output<typeof Environment>) {
  return {
    publicUrl: env.PUBLIC_URL,
    secretKey: env.SECRET_KEY,
    previousSecretKey: env.SECRET_KEY_PREVIOUS,
    heartbeatUrl: env.HEARTBEAT_URL,
    supportUrl: env.SUPPORT_URL,
    roles: env.ROLES,
    sendsNothing: env.SEND_NOTHING,
    logLevel: env.LOG_LEVEL,
    database: shapeDatabase(env),
    http: {
      host: env.HOST,
      port: env.PORT,
      internalHost: env.INTERNAL_HOST ?? env.HOST,
      internalPort: env.INTERNAL_PORT,
      trustProxy: trustProxy(env.TRUST_PROXY),
      connectionsPerAddress: connectionsPerAddress(env),
      upstreams: env.METERED_UPSTREAMS,
    },
    chain: {
      id: env.CHAIN_ID,
      name: env.CHAIN_NAME ?? CHAINS.find(({ id }) => id === env.CHAIN_ID)?.key ?? '',
      rpcUrls: env.FLARE_RPC_URLS,
      rpcHeaders: env.FLARE_RPC_HEADERS,
      rpcTimeoutsMs: env.FLARE_RPC_TIMEOUT_MS,
      requestsPerMinute: env.FLARE_RPC_PER_MINUTE,
      sockets: sockets(env),
      contractRegistry: env.FLARE_CONTRACT_REGISTRY,
      formerSubmissions: env.FORMER_SUBMISSION_ADDRESSES,
      confirmations: env.CONFIRMATIONS,
      evaluationIntervalMs: env.EVALUATION_INTERVAL_MS,
    },
    billing: {
      enabled: env.BILLING_ENABLED,
      serviceTokenSymbol: env.SERVICE_TOKEN_SYMBOL,
      terms: { version: env.TERMS_VERSION ?? '', url: env.TERMS_URL ?? '' },
      payments: {
        router: env.PAYMENT_ROUTER,
        nativePayTo: env.NATIVE_PAY_TO,
        tokens: {
          service: env.SERVICE_TOKEN_ADDRESS,
          WFLR: env.WFLR_ADDRESS,
          FXRP: env.FXRP_ADDRESS,
        },
        serviceTokenUsdMicros: env.SERVICE_TOKEN_USD_MICROS,
        xrpDepositAddress: env.XRPL_DEPOSIT_ADDRESS,
      },
    },
    x402: { settlementKey: env.X402_SETTLEMENT_KEY, facilitatorUrl: env.X402_FACILITATOR_URL },
    pChain: { rpcUrl: env.P_CHAIN_RPC_URL, headers: env.P_CHAIN_RPC_HEADERS ?? {} },
    published: {
      datasetUrl: env.PROVIDER_DATASET_URL,
      rewardDataUrls: env.REWARD_DATA_URLS ?? [],
    },
    xrpl: { rpcUrl: env.XRPL_RPC_URL },
    telegram: {
      token: env.TELEGRAM_BOT_TOKEN,
      apiRoot: env.TELEGRAM_API_ROOT,
      webhookSecret: env.TELEGRAM_WEBHOOK_SECRET,
    },
    email: { smtpUrl: env.SMTP_URL, from: env.EMAIL_FROM },
    webhook: { allowPrivate: env.WEBHOOK_ALLOW_PRIVATE },
  }
}

/** The order of the curve secp256k1: a private key is less, and not 0. */
const KEYS_END = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function isPrivateKey(text: string): boolean {
  const { success, data } = Hash.safeParse(text)
  const key = success ? BigInt(data) : 0n
  return key > 0n && key < KEYS_END
}

/** WebSockets of the endpoints that have one, each with the endpoint's headers. */
function sockets(env: z.output<typeof Environment>) {
  return env.FLARE_WS_URLS.flatMap((url, endpoint) =>
    url === undefined ? [] : [{ endpoint, url, headers: env.FLARE_RPC_HEADERS[endpoint] ?? {} }],
  )
}

function shapeDatabase(env: z.output<typeof Environment>) {
  return {
    url: env.DATABASE_URL,
    poolerUrl: env.DATABASE_POOLER_URL,
    readUrl: env.DATABASE_READ_URL,
    dataDir: env.DATA_DIR,
  }
}

/** Whether the text is a number, or a list of addresses and networks such as `10.0.0.0/8`. */
function isTrustProxy(text: string): boolean {
  if (/^\d{1,2}$/.test(text)) return true
  const { IPv4, IPv6 } = ipaddr
  return text.split(',').every((part) => {
    const range = part.trim()
    return range.includes(':')
      ? IPv6.isValid(range) || IPv6.isValidCIDR(range)
      : IPv4.isValidFourPartDecimal(range) || IPv4.isValidCIDRFourPartDecimal(range)
  })
}

/**
 * Upper limit of the connections from one address; undefined: unlimited. Behind a proxy all come from its
 * address.
 */
function connectionsPerAddress(env: z.output<typeof Environment>): number | undefined {
  const isBehindProxy = trustProxy(env.TRUST_PROXY) !== 0
  const most = env.CONNECTIONS_PER_ADDRESS ?? (isBehindProxy ? 0 : CONNECTIONS_PER_ADDRESS)
  return most === 0 ? undefined : most
}

/** Trusted proxies: a number of hops, or addresses and CIDRs; unset trusts none. */
function trustProxy(text: string | undefined): number | string[] {
  if (text === undefined) return 0
  if (/^\d+$/.test(text)) return Number(text)
  return text.split(',').map((part) => part.trim())
}
