import { Composer } from 'grammy'
import { z } from 'zod'
import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { settingValue } from '#src/watches/form.ts'
import type { Watch } from '#src/watches/model.ts'
import { getWatchType } from '#src/watches/types/index.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { defineQuestion, keepAnswered } from '../../core/session.ts'
import { findWatch } from '../../core/watches.ts'
import {
  fieldLabel,
  findField,
  NO_VALUE,
  type SettingWithOwner,
  valueText,
} from '../../views/fields.ts'
import { factsOf } from '../../views/watch-facts.ts'
import { isRemovable, nameEditor, valueEditor } from './edit-view.ts'
import { changeWatch, withManaged } from './managed-watch.ts'
import { showCard, showWatch } from './screens.ts'
import { readTypedValue } from './typed-value.ts'
import { isBacktestable, showValuesWithBacktests, VALUES_BACKTEST } from './values.ts'

const composer = new Composer<BotContext>()

/** Short name of the setting that is the watch's name. */
const NAME = 'lab'
/** Button value for the default name. */
const OWN_NAME = 'own'

const about = z.object({ id: z.int(), field: z.string() })

/** Question for a value of a watch. */
const valueQuestion = defineQuestion({
  kind: 'watch.edit',
  about,
  ask: async (ctx, { id, field }) => {
    const { watch } = await findWatch(ctx, id)
    if (field === NAME) return nameEditor(ctx.reader, watch, ownName(watch))
    const owned = requireField(watch, field)
    const options = { now: ctx.app.clock.now(), canTry: isBacktestable(owned) }
    return valueEditor(ctx.reader, watch, owned, options)
  },
  answer: async (ctx, { id, field }, text) => {
    const { watch, link } = await findWatch(ctx, id)
    if (field === NAME) {
      await rename(ctx, watch, link, text)
      return undefined
    }
    const owned = requireField(watch, field)
    const press = (value: string) => packed('watch.set', { id, field, value })
    const read = await readTypedValue(ctx, watch, owned, text, press)
    if ('refusal' in read) return read.refusal
    await setValue(ctx, watch, link, owned, read.value)
    return undefined
  },
  cancel: (ctx, { id }) => showCard(ctx, id),
})

onPress(composer, 'watch.edit', (ctx, args) => edit(ctx, args))
onPress(composer, 'watch.ask', (ctx, args) => edit(ctx, args))

async function edit(ctx: BotContext, { id, field }: z.output<typeof about>): Promise<void> {
  await withManaged(ctx, id, async (watch) => {
    const isKnown = field === NAME || findField(watch.type, field) !== undefined
    await (isKnown ? valueQuestion.open(ctx, { id, field }) : showCard(ctx, id))
  })
}

onPress(composer, 'watch.set', (ctx, { id, field, value }) =>
  withManaged(ctx, id, async (watch, link) => {
    const owned = findField(watch.type, field)
    if (field === NAME && value === OWN_NAME) return rename(ctx, watch, link, ownName(watch))
    if (owned === undefined) return showCard(ctx, id)
    await setValue(ctx, watch, link, owned, value)
  }),
)

onPress(composer, 'watch.try', (ctx, { id, field }) =>
  withManaged(ctx, id, async (watch, link) => {
    const owned = findField(watch.type, field)
    if (owned === undefined || !isBacktestable(owned)) return showCard(ctx, id)
    await showValuesWithBacktests(ctx, watch, owned, link)
  }),
)

/** Sets a value of a watch. The operation validates the value, because button data can be forged. */
async function setValue(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  owned: SettingWithOwner,
  value: string,
): Promise<void> {
  const { owner, field } = owned
  const newValue = value === NO_VALUE && isRemovable(owned) ? null : settingValue(field, value)
  const changes =
    owner === 'watch' ? { [field.key]: newValue } : { settings: { [field.key]: newValue } }
  const done = (changed: Watch) =>
    ctx.t.html('bot:edit.done', {
      field: fieldLabel(ctx.t, owned),
      value: valueText(ctx.reader, owned, value, factsOf(changed)),
    })
  await changeWatch(ctx, { watch, link }, changes, async (changed) => {
    const messageId = await showWatch(ctx, changed, link, `✓ ${done(changed)}`)
    if (field.kind === 'choice') return
    const about = { id: watch.id, field: field.code }
    await keepAnswered(ctx, { kind: valueQuestion.kind, about, messageId })
  })
}

async function rename(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  label: string,
): Promise<void> {
  const done = ctx.t.html('bot:edit.renamed', { label: typed(label) })
  await changeWatch(ctx, { watch, link }, { label }, async (changed) => {
    await showWatch(ctx, changed, link, `✓ ${done}`)
  })
}

/** Default name of a watch. */
function ownName(watch: Watch): string {
  const type = getWatchType(watch.type)
  const target = type.target.safeParse(watch.target)
  return target.success ? type.defaultLabel(target.data) : watch.label
}

function requireField(watch: Watch, code: string): SettingWithOwner {
  const owned = findField(watch.type, code)
  if (owned === undefined) throw new Error(`${watch.type} has no setting ${code}`)
  return owned
}

export const watchEditFeature = defineFeature({
  commands: [],
  composer,
  questions: [valueQuestion],
  live: VALUES_BACKTEST,
})
