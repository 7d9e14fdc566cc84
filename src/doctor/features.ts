/** Which parts of the service are off by the configuration, and why. Pure. */
import type { Config } from '#src/config.ts'
import { type Finding, warn, wrong } from './finding.ts'

/** What each feature needs. A feature whose variable is empty is off. Long because it lists all of them. */
export function findOff(config: Config): readonly Finding[] {
  const { telegram, email, published, pChain, billing, chain, ...others } = config
  const { payments } = billing
  const ways = [payments.router, payments.nativePayTo, payments.xrpDepositAddress]
  const cannotPay = billing.enabled && ways.every((way) => way === undefined)
  const isBehindNothing = others.publicUrl.startsWith('https://') && others.http.trustProxy === 0
  const off: readonly (readonly [boolean, Finding])[] = [
    [
      others.sendsNothing,
      warn('sending', 'off: SEND_NOTHING is true', 'empty it, unless this is a drill'),
    ],
    [
      telegram.token === undefined,
      warn('Telegram', 'off: TELEGRAM_BOT_TOKEN is empty', 'make a bot with BotFather'),
    ],
    [
      email.smtpUrl === undefined,
      warn('e-mail', 'off: SMTP_URL is empty', 'set SMTP_URL and EMAIL_FROM'),
    ],
    [
      cannotPay,
      wrong(
        'payments',
        'billing is on and nobody can pay: PAYMENT_ROUTER, NATIVE_PAY_TO and XRPL_DEPOSIT_ADDRESS are empty',
        'set NATIVE_PAY_TO, or BILLING_ENABLED=false for a private installation',
      ),
    ],
    [
      published.datasetUrl === undefined,
      warn(
        'eligibility of providers',
        'off: PROVIDER_DATASET_URL is empty',
        'docs/endpoints.md has the address of each chain',
      ),
    ],
    [
      published.rewardDataUrls.length === 0,
      warn(
        'unclaimed rewards',
        'off: REWARD_DATA_URLS is empty',
        'docs/endpoints.md has the address of each chain',
      ),
    ],
    [
      pChain.rpcUrl === undefined && chain.id === 14,
      warn('validators', 'off: P_CHAIN_RPC_URL is empty', 'docs/endpoints.md has the address'),
    ],
    [
      others.heartbeatUrl === undefined,
      warn(
        'monitor',
        'off: HEARTBEAT_URL is empty, so nobody is told when this machine stops',
        'use a check of healthchecks.io',
      ),
    ],
    [
      others.supportUrl === undefined,
      warn(
        'support',
        'SUPPORT_URL is empty: no text tells people how to reach you',
        'set an https or mailto address',
      ),
    ],
    [
      isBehindNothing,
      warn(
        'proxy',
        'PUBLIC_URL is https and TRUST_PROXY is empty: all clients share one limit of requests',
        'set TRUST_PROXY=1 behind one proxy',
      ),
    ],
  ]
  return off.flatMap(([isOff, finding]) => (isOff ? [finding] : []))
}
