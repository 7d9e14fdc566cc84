import type { ServedChain } from '#src/kernel/chains.ts'

/**
 * The chain's name and its coins, as the texts of every locale write them for Flare. Names of protocols keep
 * the word: they are the same on all chains. So does the name of a price feed, `FLR/USD`.
 */
const WORDS = /\b(?:Flare(?! (?:Systems|Data Connector|Time Series)\b)|(W?)FLR(?!\/))\b/g

/** Texts about Flare itself: its id 14. */
const KEPT: readonly string[] = ['meaning.chainId']

/** A text written for Flare, with another chain's name and coins. */
export function wordsOfChain(
  key: string,
  text: string,
  { name, symbol }: Pick<ServedChain, 'name' | 'symbol'>,
): string {
  if (KEPT.includes(key)) return text
  return text.replace(WORDS, (word, wrapped?: string) =>
    word === 'Flare' ? name : `${wrapped ?? ''}${symbol}`,
  )
}
