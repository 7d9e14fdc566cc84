import { z } from 'zod'
import { ROLES } from '#src/kernel/role.ts'

const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const port = z.coerce.number().int().min(0).max(65535)
const httpUrl = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''))
const commaList = z.string().transform((text) => text.split(',').map((part) => part.trim()))
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'an address of 0x and 40 hex digits')

/** The whole environment. Names are fixed; `.env.example` explains each. */
const Environment = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  DATA_DIR: z.string().default('.data'),
  PUBLIC_URL: httpUrl,
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  INTERNAL_PORT: port.default(9090),
  TRUST_PROXY: z.string().optional(),
  SECRET_KEY: z
    .base64()
    .refine((text) => Buffer.from(text, 'base64').length === 32, '32 bytes in base64')
    .transform((text) => Buffer.from(text, 'base64')),
  ROLES: commaList.pipe(z.array(z.enum(ROLES)).min(1)).default([...ROLES]),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug', 'silent']).default('info'),
  CHAIN_ID: z.coerce.number().int().positive().default(14),
  CHAIN_NAME: z.string().default('flare'),
  FLARE_RPC_URLS: commaList.pipe(z.array(httpUrl).min(1)),
  FLARE_CONTRACT_REGISTRY: address.optional(),
  CONFIRMATIONS: z.coerce.number().int().min(1).max(100).default(2),
  EVALUATION_INTERVAL_MS: z.coerce.number().int().min(50).max(60_000).default(2000),
  BILLING_ENABLED: flag.default(true),
  TERMS_VERSION: z.string().optional(),
  TERMS_URL: z.url().optional(),
  SERVICE_TOKEN_SYMBOL: z.string().default('WDG'),
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
  EMAIL_FROM: z.string().min(3).optional(),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
})

/** The service's configuration, nested by room. */
export type Config = ReturnType<typeof shape>

/** Every problem of an environment, one line each. */
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
 * @throws ConfigError with one line per missing or wrong variable
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(set)
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => problem(issue, set))
  const billing = set['BILLING_ENABLED'] !== 'false'
  for (const name of ['TERMS_VERSION', 'TERMS_URL']) {
    if (billing && set[name] === undefined)
      problems.push(`${name} is missing (required while BILLING_ENABLED is true)`)
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)
  return shape(parsed.data)
}

function problem(issue: z.core.$ZodIssue, set: Readonly<Record<string, unknown>>): string {
  const name = String(issue.path[0])
  return set[name] === undefined ? `${name} is missing` : `${name} is wrong: ${issue.message}`
}

function shape(env: z.output<typeof Environment>) {
  return {
    publicUrl: env.PUBLIC_URL,
    secretKey: env.SECRET_KEY,
    roles: env.ROLES,
    logLevel: env.LOG_LEVEL,
    database: { url: env.DATABASE_URL, dataDir: env.DATA_DIR },
    http: {
      host: env.HOST,
      port: env.PORT,
      internalPort: env.INTERNAL_PORT,
      trustProxy: trustProxy(env.TRUST_PROXY),
    },
    chain: {
      id: env.CHAIN_ID,
      name: env.CHAIN_NAME,
      rpcUrls: env.FLARE_RPC_URLS,
      confirmations: env.CONFIRMATIONS,
      evaluationIntervalMs: env.EVALUATION_INTERVAL_MS,
    },
    billing: {
      enabled: env.BILLING_ENABLED,
      serviceTokenSymbol: env.SERVICE_TOKEN_SYMBOL,
      terms: { version: env.TERMS_VERSION ?? '', url: env.TERMS_URL ?? '' },
    },
    telegram: {
      token: env.TELEGRAM_BOT_TOKEN,
      apiRoot: env.TELEGRAM_API_ROOT,
      webhookSecret: env.TELEGRAM_WEBHOOK_SECRET,
    },
    email: { smtpUrl: env.SMTP_URL, from: env.EMAIL_FROM },
    webhook: { allowPrivate: env.WEBHOOK_ALLOW_PRIVATE },
  }
}

/** So many hops, or these addresses and CIDRs; unset trusts nobody. */
function trustProxy(text: string | undefined): number | string[] {
  if (text === undefined) return 0
  if (/^\d+$/.test(text)) return Number(text)
  return text.split(',').map((part) => part.trim())
}
