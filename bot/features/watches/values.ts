/** The alerts that other values of a setting would have sent in the last week. */
import { z } from 'zod'
import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { getWatch } from '#src/operations/rest/watches.ts'
import { settingValue } from '#src/watches/form.ts'
import type { Watch } from '#src/watches/model.ts'
import { type BacktestScreen, backtestKind, followBacktests } from '../../core/backtests.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import type { LiveKinds } from '../../core/live-messages.ts'
import { show } from '../../core/show.ts'
import { hasDays, type TriedWatch, valueLine } from '../../views/backtest-line.ts'
import {
  fieldLabel,
  findField,
  NO_VALUE,
  presetsOf,
  type SettingPreset,
  type SettingWithOwner,
  valueText,
} from '../../views/fields.ts'
import { choiceButton, inRows, type Reader, screen, type View } from '../../views/view.ts'
import { factsOf } from '../../views/watch-facts.ts'
import { backToCard, currentValue } from './edit-view.ts'

const KIND = 'backtest-values'

/** Stored subject of the message: the watch's id and the setting's short name. */
const Handle = z
  .string()
  .regex(/^\d+:\w+$/)
  .transform((text) => text.split(':'))

/**
 * Shows the values offered for a setting. The alerts that each would have sent are added when its backtest ends.
 */
export async function showValuesWithBacktests(
  ctx: BotContext,
  watch: Watch,
  owned: SettingWithOwner,
  link: Membership,
): Promise<void> {
  const messageId = await show(ctx, triedValues(ctx.reader, watch, owned, undefined))
  const handle = `${watch.id}:${owned.field.code}`
  const message = { chatId: ctx.knownChat.id, messageId }
  await followBacktests(ctx.app, message, { kind: KIND, wallet: link.wallet, handle })
}

/** The values with their results. */
const readValuesBacktest: BacktestScreen = async (state, link, { handle }, runOne) => {
  const [id = '', code = ''] = Handle.parse(handle)
  const watch = await state.call(getWatch, { params: { id } }, link)
  const owned = findField(watch.type, code)
  if (owned === undefined || !isBacktestable(owned)) return undefined
  const values = offeredValues(state.reader, watch, owned)
  const tried = await Promise.all(
    values.map(({ value }) => runOne(state, backtestBodyWith(watch, owned, value), link)),
  )
  return triedValues(state.reader, watch, owned, tried)
}

/** The values that wait for their results. */
export const VALUES_BACKTEST: LiveKinds = { [KIND]: backtestKind(readValuesBacktest) }

/** Whether a value decides which alerts there are, and not only who gets them. */
export function isBacktestable({ owner, field }: SettingWithOwner): boolean {
  return owner !== 'watch' || field.key === 'cooldownSeconds'
}

/** The current value and the offered values. */
function offeredValues(
  reader: Reader,
  watch: Watch,
  owned: SettingWithOwner,
): readonly SettingPreset[] {
  const facts = factsOf(watch)
  const current = currentValue(watch, owned)
  const presets = presetsOf(reader, owned, facts)
  const isOffered = presets.some(({ value }) => value === current)
  if (isOffered || current === NO_VALUE) return presets
  return [{ value: current, label: valueText(reader, owned, current, facts) }, ...presets]
}

/** Body of a backtest: it describes a watch like this one, with another value of a setting. */
function backtestBodyWith(watch: Watch, { owner, field }: SettingWithOwner, value: string): object {
  const { type, target, signals, minSeverity, cooldownSeconds } = watch
  const settings = z.record(z.string(), z.unknown()).parse(watch.settings)
  const body = { type, target, signals, minSeverity, cooldownSeconds, settings }
  const other = { [field.key]: settingValue(field, value) }
  return owner === 'watch'
    ? { ...body, ...other }
    : { ...body, settings: { ...settings, ...other } }
}

/**
 * Each offered value of a setting with the alerts it would have sent, and a button that chooses it.
 * @param tried results in the order of the values; undefined while the backtests run
 */
function triedValues(
  reader: Reader,
  watch: Watch,
  owned: SettingWithOwner,
  tried: readonly TriedWatch[] | undefined,
): View {
  const { t } = reader
  const { code } = owned.field
  const current = currentValue(watch, owned)
  const values = offeredValues(reader, watch, owned)
  const label = (preset: SettingPreset) =>
    preset.value === current ? `✓ ${preset.label}` : preset.label
  const field = fieldLabel(t, owned)
  const lines = [
    `✏️ ${t.html('bot:edit.title', { field, label: typed(watch.label) })}`,
    '',
    t.html('bot:backtest.tried'),
    ...(tried === undefined
      ? [`⏳ ${t.html('bot:backtest.working')}`]
      : values.map((preset, index) => valueLine(t, label(preset), tried[index] ?? 'failed'))),
    ...(tried?.some(hasDays) === true ? ['', t.html('bot:backtest.legend')] : []),
  ]
  const buttons = values.map((preset) =>
    choiceButton(
      preset.label,
      preset.value === current,
      packed('watch.set', { id: watch.id, field: code, value: preset.value }),
    ),
  )
  return screen(lines, [...inRows(buttons, 3), [backToCard(watch)]])
}
