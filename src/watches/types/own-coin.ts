import { z } from 'zod'
import { CHAINS, servedChain } from '#src/kernel/chains.ts'
import { Address } from '#src/kernel/units.ts'

/** Name of the chain's own coin inside the service, on every chain. */
const OWN = 'FLR'
const Names = z.enum([
  OWN,
  ...CHAINS.map(({ symbol }) => symbol).filter((symbol) => symbol !== OWN),
])

/** All assets of a wallet that have a price. */
export const ALL_ASSETS = '*'

const NamesOrAll = z.enum([ALL_ASSETS, ...Names.options])

/** The names that this process accepts, if the schema is that of names of the own coin; `*` is one where it is accepted. */
export function acceptedCoinNames(schema: z.core.$ZodType): readonly string[] | undefined {
  const names = [...new Set([servedChain().symbol, OWN])]
  if (schema === Names) return names
  return schema === NamesOrAll ? [ALL_ASSETS, ...names] : undefined
}

/** Reads a name of the own coin. `FLR` is accepted on every chain: the bot and the examples of the API write it. */
function readCoin(symbol: string, context: z.core.ParsePayload<string>): typeof OWN {
  if (symbol !== OWN && symbol !== servedChain().symbol) {
    const values = [servedChain().symbol]
    context.issues.push({ code: 'invalid_value', values, input: symbol })
  }
  return OWN
}

/** Codec of the chain's own coin, which is its symbol in JSON. */
const OwnCoin = z.codec(Names, z.literal(OWN), {
  decode: readCoin,
  encode: () => servedChain().symbol,
})

/** Codec of the own coin or all assets. One schema: generators of clients tell two schemas of texts not apart. */
const OwnCoinOrAll = z.codec(NamesOrAll, z.enum([ALL_ASSETS, OWN]), {
  decode: (name, context) => (name === ALL_ASSETS ? ALL_ASSETS : readCoin(name, context)),
  encode: (name) => (name === ALL_ASSETS ? ALL_ASSETS : servedChain().symbol),
})

/** An asset of a wallet: the chain's own coin, or the address of a token. */
export const WalletAsset = z.union([OwnCoin, Address])

/** What a balance watch counts: one asset, or all. */
export const WatchedAsset = z.union([OwnCoinOrAll, Address])
