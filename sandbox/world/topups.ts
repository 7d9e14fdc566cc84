import type { Sql } from 'postgres'
import { z } from 'zod'
import { Address, Hash } from '#src/kernel/units.ts'
import type { DevnetWithContracts } from '../devnet.ts'
import type { XrplServer } from '../xrpl.ts'

/** A requested top-up. */
export type RequestedTopup = z.output<typeof Row>

/** State of a top-up, from its public page. */
export type TopupState = z.output<typeof State>

/** Finds the top-ups of a world and pays them from their wallets. */
export interface TopupPayer {
  /** The newest top-up, optionally of an asset; undefined without any. */
  newest(asset?: 'XRP'): Promise<RequestedTopup | undefined>
  /**
   * Pays an amount for a top-up, on the chain of its asset. Alice pays for unknown wallets.
   *
   * @returns the hash of the payment
   * @throws Error when the payment fails in its block
   */
  pay(topup: RequestedTopup, units: bigint): Promise<string>
  state(topup: Pick<RequestedTopup, 'handle'>): Promise<TopupState>
  /** Page for paying a top-up manually. */
  pageOf(topup: Pick<RequestedTopup, 'handle'>): string
}

const Row = z.object({
  handle: Hash,
  wallet: Address,
  asset: z.string(),
  token: Address.nullable(),
  payTo: z.string(),
  destinationTag: z.coerce.number().nullable(),
  amountUnits: z.coerce.bigint(),
})
const State = z.object({
  status: z.string(),
  asset: z.string(),
  decimals: z.int(),
  creditedCredits: z.int(),
  reason: z.string().nullable(),
})

/** Creates the finder and payer of a world's top-ups. */
export function createTopupPayer(world: {
  readonly sql: Sql
  readonly publicUrl: string
  readonly devnet: DevnetWithContracts
  readonly xrpl: XrplServer
}): TopupPayer {
  const { sql, publicUrl, devnet, xrpl } = world
  const pageOf = ({ handle }: Pick<RequestedTopup, 'handle'>) => `${publicUrl}/pay/${handle}`
  return {
    newest: async (asset) => {
      const [row] = await sql`
        select handle, wallet, asset, token, pay_to as "payTo", destination_tag as "destinationTag",
          amount_units as "amountUnits"
        from topups where ${asset ?? null}::text is null or asset = ${asset ?? null}
        order by created_at desc limit 1`
      return row && Row.parse(row)
    },
    pay: async ({ handle, wallet, token, payTo, destinationTag }, units) => {
      if (destinationTag !== null) return xrpl.deposit({ tag: destinationTag, drops: units }).hash
      const { alice, ...others } = devnet.people
      const payer = Object.values(others).find(({ account }) => account.address === wallet) ?? alice
      const from = payer.account.address
      const { contracts } = devnet
      const { hash, status } = await (token === null
        ? contracts.sendNative(from, Address.parse(payTo), units, handle)
        : contracts.pay(from, handle, token, units))
      if (status === 'reverted') throw new Error(`${payer.name}’s payment failed in its block`)
      return hash
    },
    state: async (topup) => {
      const response = await fetch(`${pageOf(topup)}/status`)
      if (!response.ok) throw new Error(`the page of the top-up answers ${response.status}`)
      return State.parse(await response.json())
    },
    pageOf,
  }
}
