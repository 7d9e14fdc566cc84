import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { startXrpl } from '#sandbox/xrpl.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { findOpenTopup } from '#src/operations/chat/status.ts'
import { acceptTerms } from '#src/operations/rest/account.ts'
import { botWorld } from './bot.ts'
import { testClock } from './clock.ts'
import { changeLive } from './live.ts'

/** Price of a service token in these tests: 5 cents. */
const TOKEN_USD_MICROS = '50000'
const CATCH_UP_SECONDS = 60

/** The bot with a chain with the router, tokens and feeds, and an XRP Ledger, on one clock. */
export async function moneyWorld(over: Readonly<Record<string, string>> = {}) {
  let clock = testClock()
  const shared = { now: () => clock.now() }
  const [devnet, xrpl] = await Promise.all([
    startDevnet({ contracts: true, startsAt: clock.now() }),
    startXrpl({ clock: shared }),
  ])
  const rpc = await startRpcProxy(devnet.rpcUrl)
  const { contracts } = devnet
  const world = await botWorld({
    PUBLIC_URL: 'https://watchdog.example.org',
    FLARE_RPC_URLS: rpc.url,
    PAYMENT_ROUTER: contracts.router,
    NATIVE_PAY_TO: contracts.payTo,
    SERVICE_TOKEN_ADDRESS: contracts.serviceToken,
    SERVICE_TOKEN_USD_MICROS: TOKEN_USD_MICROS,
    WFLR_ADDRESS: contracts.wflr,
    FXRP_ADDRESS: contracts.fxrp,
    XRPL_RPC_URL: xrpl.url,
    XRPL_DEPOSIT_ADDRESS: xrpl.address,
    ...over,
  })
  clock = world.clock
  const { app } = world
  const { signal } = new AbortController()

  /** Moves the service's clock to the chain's newest block, which may be ahead. */
  async function sync(): Promise<void> {
    const { timestamp } = await devnet.client.getBlock()
    clock.set(new Date(Math.max(clock.now().getTime(), Number(timestamp) * 1000)))
  }

  /** Moves the chain's time to the service's, if it is far behind and prices are stale. */
  async function catchUp(): Promise<void> {
    const { timestamp } = await devnet.client.getBlock()
    const behind = Math.floor(clock.now().getTime() / 1000) - Number(timestamp)
    if (behind >= CATCH_UP_SECONDS) await devnet.increaseTime(behind)
  }

  return {
    ...world,
    devnet,
    contracts,
    xrpl,
    rpc,
    catchUp,
    /** Updates live messages, some seconds later. */
    follow: async (seconds = 5) => {
      clock.advance(seconds)
      await catchUp()
      await changeLive(world)
    },
    /** Searches for payments once. */
    look: async () => {
      await sync()
      await settlePayments(app, signal)
    },
    /** Creates blocks until the newest payment is deep enough, and looks for payments. */
    confirmAll: async () => {
      await devnet.mine(2, 1)
      await sync()
      await settlePayments(app, signal)
    },
    /** Advances all clocks. */
    pass: async (seconds: number) => {
      await sync()
      await devnet.increaseTime(seconds)
      await sync()
    },
    /** The last quote shown to the wallet. */
    quoteOf: async (name: 'alice' | 'bob' | 'carol') => {
      const topup = await world.as(name, findOpenTopup)
      if (topup === null) throw new Error('there is no open quote')
      return topup
    },
    accept: async (name: 'alice' | 'bob' | 'carol') => {
      const { version } = app.billing.terms
      await world.as(name, acceptTerms, { body: { version } })
    },
    /**
     * Pays a quote of its wallet, in full or another amount.
     * @returns the transaction's hash
     */
    pay: async (
      draft: Pick<Topup, 'handle' | 'amount' | 'approval' | 'destinationTag'>,
      amountUnits = draft.amount,
    ): Promise<string> => {
      const from = devnet.people.bob.account.address
      if (draft.destinationTag !== null) {
        return xrpl.deposit({ tag: draft.destinationTag, drops: amountUnits }).hash
      }
      const { approval, handle } = draft
      const { hash } =
        approval === null
          ? await contracts.sendNative(from, contracts.payTo, amountUnits, handle)
          : await contracts.pay(from, handle, approval.token, amountUnits)
      return hash
    },
    close: async () => {
      await world.close()
      await Promise.all([rpc.close(), xrpl.close()])
      await devnet.close()
    },
  }
}

export type MoneyWorld = Awaited<ReturnType<typeof moneyWorld>>
