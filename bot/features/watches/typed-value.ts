/** Typed values of settings. A number with another unit is refused, with a button for what it is worth, if that is known. */
import { formatUnits } from 'viem/utils'
import { formatDecimal, formatPercent } from '#src/i18n/format.ts'
import type { Quantity } from '#src/i18n/parse.ts'
import { unitKindOf } from '#src/i18n/unit-words.ts'
import { readUsdPrice } from '#src/operations/chat/previews.ts'
import type { BotContext } from '../../core/context.ts'
import type { Refusal } from '../../core/session.ts'
import {
  insteadOf,
  readValue,
  roundedAmount,
  type SettingWithOwner,
  valueText,
} from '../../views/fields.ts'
import { factsOf, propertyOf, type WatchDescription } from '../../views/watch-facts.ts'

/** A typed value as the setting's text, or why it is refused. */
export type TypedValue = { readonly value: string } | { readonly refusal: Refusal }

/**
 * Parses a typed value of a setting.
 * @param press data of a button that chooses a value
 */
export async function readTypedValue(
  ctx: BotContext,
  watch: WatchDescription,
  owned: SettingWithOwner,
  text: string,
  press: (value: string) => string,
): Promise<TypedValue> {
  const facts = factsOf(watch)
  const read = readValue(ctx.reader, owned, text, facts)
  if (read.ok) return { value: read.value }
  const { html, other } = read
  const worth = other && (await worthOf(ctx, watch, owned, other))
  if (worth === undefined) return { refusal: { html } }
  const after = valueText(ctx.reader, owned, worth.value, facts)
  const instead = insteadOf(ctx.t, { ...worth, after }, press(worth.value))
  return { refusal: { html: `${html}\n${instead.html}`, rows: instead.rows } }
}

/** What a number in another unit is worth in the unit of an amount: dollars by the price, percent of the observed amount. */
async function worthOf(
  ctx: BotContext,
  watch: WatchDescription,
  { field }: SettingWithOwner,
  { value, unit }: Quantity,
): Promise<{ readonly before: string; readonly value: string } | undefined> {
  if (field.kind !== 'decimal' || field.unit !== 'asset') return undefined
  const { locale } = ctx.t
  const kind = unitKindOf(unit)
  const amount =
    kind === 'usd'
      ? await amountOfDollars(ctx, watch, Number(value))
      : kind === 'percent'
        ? shareOf(watch, field.shares?.of, Number(value) / 100)
        : undefined
  if (amount === undefined) return undefined
  const worth = roundedAmount(amount)
  if (Number(worth) < Number(field.min) || Number(worth) > Number(field.max)) return undefined
  const before =
    kind === 'usd'
      ? formatDecimal({ value, symbol: 'USD', rounded: 'none' }, locale)
      : formatPercent(Number(value) / 100, locale)
  return { before, value: worth }
}

async function amountOfDollars(
  ctx: BotContext,
  { target }: WatchDescription,
  dollars: number,
): Promise<number | undefined> {
  const asset = propertyOf(target, 'asset')
  const limitKey = `telegram ${ctx.knownChat.id}`
  const { usd } = await ctx.call(readUsdPrice, { query: { asset }, limitKey })
  return usd === null || Number(usd) <= 0 ? undefined : dollars / Number(usd)
}

function shareOf(
  watch: WatchDescription,
  of: string | undefined,
  share: number,
): number | undefined {
  const whole = of === undefined ? undefined : factsOf(watch)[of]
  if (whole?.kind !== 'amount') return undefined
  return Number(formatUnits(whole.units, whole.decimals)) * share
}
