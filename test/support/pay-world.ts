import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { startXrpl } from '#sandbox/xrpl.ts'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { followSubmittedTransactions } from '#src/billing/topups/submissions.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import type { Topup, TopupDraft } from '../generated/api.ts'
import { type TestClock, testClock } from './clock.ts'
import { serviceOnly } from './harness.ts'
import { type Client, signIn } from './people.ts'

/** Price of a service token in these tests: 5 cents. */
export const TOKEN_USD_MICROS = 50_000n

/** A logged error: its phrase and its fields. */
export interface LogLine {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * The service with every payment asset: a chain with the router, tokens and feeds, and an XRP Ledger,
 * without jobs. The clocks of chain and service run together.
 */
export async function payWorld(
  over: Readonly<Record<string, string>> = {},
  clock: TestClock = testClock(),
) {
  const errors: LogLine[] = []
  const log: Logger = {
    ...silentLogger,
    error: (fields, message) => {
      errors.push({ message, fields })
    },
  }
  const [devnet, xrpl] = await Promise.all([
    startDevnet({ contracts: true, startsAt: clock.now() }),
    startXrpl({ clock }),
  ])
  const rpc = await startRpcProxy(devnet.rpcUrl)
  const { contracts } = devnet
  const environment = {
    FLARE_RPC_URLS: rpc.url,
    PAYMENT_ROUTER: contracts.router,
    NATIVE_PAY_TO: contracts.payTo,
    SERVICE_TOKEN_ADDRESS: contracts.serviceToken,
    SERVICE_TOKEN_USD_MICROS: TOKEN_USD_MICROS.toString(),
    WFLR_ADDRESS: contracts.wflr,
    FXRP_ADDRESS: contracts.fxrp,
    XRPL_RPC_URL: xrpl.url,
    XRPL_DEPOSIT_ADDRESS: xrpl.address,
    ...over,
  }
  const only = await serviceOnly(environment, clock, log)
  const signal = new AbortController().signal

  /** Moves the service's clock to the chain's newest block, which may be ahead. */
  async function sync(): Promise<void> {
    const { timestamp } = await devnet.client.getBlock()
    clock.set(new Date(Math.max(clock.now().getTime(), Number(timestamp) * 1000)))
  }

  /** Looks for payments once. */
  async function settle(): Promise<void> {
    await sync()
    try {
      await settlePayments(only.app, signal)
    } finally {
      await followSubmittedTransactions(only.app, signal)
    }
  }

  return {
    ...only,
    environment,
    devnet,
    contracts,
    xrpl,
    rpc,
    errors,
    sync,
    settle,
    /** Creates blocks until the newest payment is deep enough, and looks for payments. */
    confirmAll: async () => {
      await devnet.mine(2, 1)
      await settle()
    },
    /** Advances all clocks. */
    pass: async (seconds: number) => {
      await sync()
      await devnet.increaseTime(seconds)
      await sync()
    },
    /**
     * Pays a draft in full, or another amount.
     * @returns the transaction's hash
     */
    pay: async (
      draft: Pick<TopupDraft, 'handle' | 'amount' | 'approval' | 'transaction' | 'destinationTag'>,
      amountUnits = BigInt(draft.amount),
      from: Address = devnet.people.bob.account.address,
    ): Promise<string> => {
      const handle = draft.handle as `0x${string}`
      if (draft.transaction === null) {
        const tag = draft.destinationTag ?? undefined
        return xrpl.deposit({ tag, drops: amountUnits }).hash
      }
      const { hash } =
        draft.approval === null
          ? await contracts.sendNative(from, contracts.payTo, amountUnits, handle)
          : await contracts.pay(from, handle, draft.approval.token as Address, amountUnits)
      return hash
    },
    close: async () => {
      await only.close()
      await Promise.all([rpc.close(), xrpl.close()])
      await devnet.close()
    },
  }
}

export type PayWorld = Awaited<ReturnType<typeof payWorld>>

/** A new client that accepted the terms. */
export async function buyer(
  world: Pick<PayWorld, 'server'>,
  name: 'alice' | 'bob' | 'carol',
): Promise<Client> {
  const client = await signIn(world, name)
  const { body } = await client.request('GET', '/account/terms')
  await client.request('POST', '/account/terms', { version: body.currentVersion })
  return client
}

/** Creates a quote; the test fails without one. */
export async function draftOf(client: Client, input: object = {}): Promise<TopupDraft> {
  const { status, body, text } = await client.request<TopupDraft>('POST', '/topup', input)
  if (status !== 201) throw new Error(`no quote: ${text}`)
  return body
}

/** State of a top-up. */
export async function topupOf(client: Client, { handle }: { handle: string }): Promise<Topup> {
  const { body } = await client.request<Topup>('GET', `/topup/${handle}`)
  return body
}

/** Entries of a ledger, newest first: type and change. */
export async function ledgerOf(client: Client) {
  const { body } = await client.request('GET', '/account?limit=250')
  const entries: { type: string; deltaCredits: number; reference: string }[] = body.ledger.data
  return { balance: body.balanceCredits as number, entries }
}

/** Unmatched payments, newest first. */
export async function unmatched({ database }: Pick<PayWorld, 'database'>) {
  return [...(await database.sql`select * from unmatched_payments order by found_at desc`)]
}
