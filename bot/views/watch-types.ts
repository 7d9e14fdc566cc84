import { z } from 'zod'
import { formatDecimal, shortAddress } from '#src/i18n/format.ts'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import { type Reader, wholeAddress } from './view.ts'

/** The name of a watch type. */
export function typeName(t: Translate, type: string): string {
  return t(builtKey(`signals:type.${type}.label`))
}

/**
 * What a watch looks at and when it alerts, in the words of its type: lines of HTML. None for a type
 * without words of its own.
 */
export function typeLines(reader: Reader, watch: Watch): readonly string[] {
  return LINES[watch.type]?.(reader, watch) ?? []
}

const LINES: Readonly<Record<string, (reader: Reader, watch: Watch) => readonly string[]>> = {
  'wallet-balance': walletBalance,
}

const BalanceTarget = z.object({ address: z.string(), asset: z.string() })
const BalanceSettings = z.object({
  threshold: z.string(),
  direction: z.enum(['any', 'up', 'down']),
})

/** A token is named by its contract: its symbol is not part of the record. */
function walletBalance({ t }: Reader, watch: Watch): readonly string[] {
  const { address, asset } = BalanceTarget.parse(watch.target)
  const { threshold, direction } = BalanceSettings.parse(watch.settings)
  const symbol = asset.startsWith('0x') ? shortAddress(asset) : asset
  const amount = formatDecimal({ value: threshold, symbol }, t.locale)
  return [
    t.html('bot:type.wallet-balance.target', { address: wholeAddress(address), asset: symbol }),
    t.html(builtKey(`bot:type.wallet-balance.${direction}`), { threshold: amount }),
  ]
}
