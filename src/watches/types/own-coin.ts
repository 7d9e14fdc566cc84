import { z } from 'zod'
import { CHAINS, servedChain } from '#src/kernel/chains.ts'
import { Address } from '#src/kernel/units.ts'

/** Name of the chain's own coin inside the service, on every chain. */
const OWN = 'FLR'
const Names = z.enum([
  OWN,
  ...CHAINS.map(({ symbol }) => symbol).filter((symbol) => symbol !== OWN),
])

/** The names of the own coin that this process accepts, if the schema is that of the names. */
export function acceptedCoinNames(schema: z.core.$ZodType): readonly string[] | undefined {
  return schema === Names ? [...new Set([servedChain().symbol, OWN])] : undefined
}

/**
 * Codec of the chain's own coin, which is its symbol in JSON. `FLR` is accepted on every chain: the bot and
 * the examples of the API write it.
 */
const OwnCoin = z.codec(Names, z.literal(OWN), {
  decode: (symbol, context) => {
    if (symbol !== OWN && symbol !== servedChain().symbol) {
      const values = [servedChain().symbol]
      context.issues.push({ code: 'invalid_value', values, input: symbol })
    }
    return OWN as typeof OWN
  },
  encode: () => servedChain().symbol,
})

/** An asset of a wallet: the chain's own coin, or the address of a token. */
export const WalletAsset = z.union([OwnCoin, Address])

/** All assets of a wallet that have a price. */
export const ALL_ASSETS = '*'

/** What a balance watch counts: one asset, or all. */
export const WatchedAsset = z.union([z.literal(ALL_ASSETS), OwnCoin, Address])
