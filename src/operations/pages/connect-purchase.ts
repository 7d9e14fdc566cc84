/**
 * A purchase that a chat requested before it had the right to spend. When the chat has been linked with that right,
 * the top-up is created. The connect page then links to the pay page, and the chat shows the top-up.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { unpacked } from '#src/actions/codec.ts'
import { PAYMENT_ASSETS } from '#src/billing/price-list.ts'
import type { NewTopup } from '#src/billing/topups/model.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Hash } from '#src/kernel/units.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import type { LinkedCode } from '#src/recipients/connect.ts'
import type { App } from '../define.ts'
import { invoke } from '../gate/invoke.ts'
import { createTopup } from '../rest/topups.ts'

/**
 * Maximum number of waits for another process: page and chat may create the same top-up at the same moment,
 * and the second waits for the first.
 */
const TRIES_MAX = 15
const TRY_AGAIN_MS = 200

/**
 * Creates the top-up of the purchase that is stored with a used code, once for each code.
 *
 * @returns the handle of the top-up; undefined if there is no such purchase, or it is refused. In the
 * latter case the chat offers the purchase again, with the reason
 */
export async function draftConnectPurchase(
  app: App,
  linked: LinkedCode,
): Promise<Hash | undefined> {
  const body = purchaseOf(app, linked.goesOn)
  const link = (await listChatLinks(app, linked.chatId)).find(
    ({ wallet }) => wallet === linked.wallet,
  )
  if (body === undefined || link === undefined) return undefined
  const { wallet, scopes } = link
  const caller: Caller = { wallet, scopes, via: 'telegram', telegramUserId: linked.by }
  const request = { body, idempotencyKey: `connect ${linked.hash}` }
  for (let tries = 1; ; tries += 1) {
    try {
      const { output } = await invoke(app, createTopup, caller, request)
      return output.handle
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const isUnderWay = error.code === 'idempotency_in_progress'
      if (!isUnderWay || tries === TRIES_MAX) return undefined
      await wait(TRY_AGAIN_MS)
    }
  }
}

function purchaseOf({ billing }: App, goesOn: string | undefined): NewTopup | undefined {
  const press = goesOn === undefined ? undefined : unpacked(goesOn)
  if (press?.verb !== 'topup.buy') return undefined
  const order = press.args
  const { asset, credits, quantity: slots, periods, renew: autoRenew } = order
  const paymentAsset = PAYMENT_ASSETS.find(({ key }) => key === asset)
  const symbol =
    paymentAsset === undefined ? asset : symbolOf(paymentAsset.key, billing.serviceTokenSymbol)
  return { asset: symbol, credits, then: { slots, periods, autoRenew } }
}
