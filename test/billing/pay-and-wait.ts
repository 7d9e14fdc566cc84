import { once } from 'node:events'
import { createPaymentOptions } from '#src/billing/topups/payment-options.ts'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { confirmTopup } from '#src/billing/topups/service.ts'
import { createChain } from '#src/chain/client.ts'
import { connect } from '#src/db/connection.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { type Hash, storedAddress } from '#src/kernel/units.ts'
import { createNotices } from '#src/notices/service.ts'

/**
 * Searches for payments once, or confirms one, in a process of its own that can be killed. It
 * prints a line when it is connected, and starts when it reads its order.
 */
interface SetUp {
  readonly databaseUrl: string
  readonly rpcUrl: string
  readonly router: string
  readonly token: string
  /** Receives plain transfers; undefined: plain transfers are not configured. */
  readonly payTo?: string
  readonly usdMicros: string
  /** How far the clock is ahead of the machine's, as that of the chain; 0 by default. */
  readonly aheadMs?: number
}

/** The payment to confirm; empty: search for payments. */
interface Order {
  readonly wallet?: string
  readonly handle: Hash
  readonly txHash: string
}

const setUp: SetUp = JSON.parse(process.argv[2] ?? '')
const { db } = connect(setUp.databaseUrl, { max: 1 })
const log = silentLogger
const { aheadMs = 0 } = setUp
const clock = { now: () => new Date(systemClock.now().getTime() + aheadMs) }
const chain = createChain({ rpcUrls: [setUp.rpcUrl], chainId: 14, log, clock })
const payments = {
  router: storedAddress(setUp.router),
  nativePayTo: setUp.payTo === undefined ? undefined : storedAddress(setUp.payTo),
  tokens: { service: storedAddress(setUp.token), WFLR: undefined, FXRP: undefined },
  serviceTokenUsdMicros: BigInt(setUp.usdMicros),
  xrpDepositAddress: undefined,
}
/** Those of the test's service: who accepted them may buy slots. */
const terms = { version: '2026-11', url: '' }
const billing = { enabled: true, serviceTokenSymbol: 'WDG', terms, payments }
const paymentOptions = createPaymentOptions({ chain, xrpl: undefined, clock, log, billing })
const service = { publicUrl: 'http://127.0.0.1', chainId: 14, confirmations: 2, xrpl: undefined }
const notices = createNotices({
  clock,
  box: createSecretBox(Buffer.alloc(32, 7)),
  billing,
  botUsername: () => undefined,
  listChatsShowingTopup: () => Promise.resolve([]),
  ...service,
})
const quarantine = createQuarantine({ log })
const deps = {
  db,
  clock,
  log,
  quarantine,
  chain,
  paymentOptions: paymentOptions,
  notices,
  billing,
  ...service,
}

await db.execute('select 1')
process.stdout.write('connected\n')
const [text] = await once(process.stdin, 'data')
const { wallet, handle, txHash }: Order = JSON.parse(String(text))
if (wallet === undefined) await settlePayments(deps, new AbortController().signal)
else {
  const caller = { wallet: storedAddress(wallet), scopes: ['write'], via: 'http' } as const
  await confirmTopup(deps, caller, { handle, txHash, locale: 'en' })
}
process.exit(0)
