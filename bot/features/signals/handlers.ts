import { Composer } from 'grammy'
import { z } from 'zod'
import { typed } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { defineQuestion, keepAnswered, type Refusal } from '../../core/session.ts'
import { show } from '../../core/show.ts'
import { parameterUnit, readParameter, type TypedParameter } from '../../core/typed-input.ts'
import { findWatch } from '../../core/watches.ts'
import { cut, unitText } from '../../views/fields.ts'
import { changeWatch, withManaged } from '../watches/managed-watch.ts'
import { showCard } from '../watches/screens.ts'
import { parameterBounds, parameterEditor, signalCard } from './card-view.ts'
import { chosenSignals, type SignalView, signalGroup, signalList, signalsOf } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'signal.list', (ctx, { id }) =>
  withManaged(ctx, id, (watch) => show(ctx, signalList(ctx.reader, watch))),
)

onPress(composer, 'signal.group', (ctx, { id, group }) =>
  withManaged(ctx, id, (watch) => show(ctx, signalGroup(ctx.reader, watch, group))),
)

onPress(composer, 'signal.card', (ctx, { id, signal }) =>
  withSignal(ctx, id, signal, (watch, _link, view) => showSignal(ctx, watch, view)),
)

onPress(composer, 'signal.help', (ctx, { id, signal }) =>
  withSignal(ctx, id, signal, (watch, _link, view) =>
    showSignal(ctx, watch, view, { isHelped: true }),
  ),
)

onPress(composer, 'signal.all', (ctx, { id, signals }) =>
  withManaged(ctx, id, (watch, link) => {
    const definitions = signalsOf(watch).map(({ definition }) => definition)
    const changes = { signals: chosenSignals(definitions, signals) }
    return changeWatch(ctx, { watch, link }, changes, (changed) =>
      show(ctx, signalList(ctx.reader, changed)),
    )
  }),
)

onPress(composer, 'signal.flip', (ctx, { id, signal }) =>
  withSignal(ctx, id, signal, (watch, link, { setting, state }) => {
    const isClosing = setting.enabled && state?.state === 'firing'
    const notice = isClosing ? ctx.t.html('bot:signal.closed') : undefined
    return set(ctx, watch, link, { id: signal, enabled: !setting.enabled }, { notice })
  }),
)

onPress(composer, 'signal.set', (ctx, { id, signal, parameter, value }) =>
  withSignal(ctx, id, signal, (watch, link, view) => {
    const known = view.definition.parameters.find(({ key }) => key === parameter)
    if (known === undefined) return showSignal(ctx, watch, view)
    const isSwitch = known.type === 'boolean'
    const newValue = isSwitch ? value === '1' : Number(value)
    const changed = { id: signal, parameters: { [parameter]: newValue } }
    return set(ctx, watch, link, changed, isSwitch ? {} : { parameter })
  }),
)

onPress(composer, 'signal.ask', (ctx, { id, signal, parameter }) =>
  withSignal(ctx, id, signal, (watch, _link, view) =>
    numberParameter(view, parameter) === undefined
      ? showSignal(ctx, watch, view)
      : parameterQuestion.open(ctx, { id, signal, parameter }),
  ),
)

/** Question for a signal's parameter. */
const parameterQuestion = defineQuestion({
  kind: 'signal.ask',
  about: z.object({ id: z.int(), signal: z.string(), parameter: z.string() }),
  ask: async (ctx, { id, signal, parameter }) => {
    const { watch } = await findWatch(ctx, id)
    const view = requireSignal(watch, signal)
    return parameterEditor(ctx.reader, watch, view, requireNumber(view, parameter))
  },
  answer: async (ctx, { id, signal, parameter }, text) => {
    const { watch, link } = await findWatch(ctx, id)
    const known = requireNumber(requireSignal(watch, signal), parameter)
    const read = readParameter(text, known, ctx.t.locale)
    if (!read.ok) return refusalOf(ctx, known, read.reason, text)
    const changed = { id: signal, parameters: { [parameter]: read.value } }
    await set(ctx, watch, link, changed, { parameter })
    return undefined
  },
  cancel: async (ctx, { id, signal }) => {
    const { watch } = await findWatch(ctx, id)
    await showSignal(ctx, watch, requireSignal(watch, signal))
  },
})

function refusalOf(
  { t }: BotContext,
  parameter: TypedParameter,
  reason: Extract<ReturnType<typeof readParameter>, { ok: false }>['reason'],
  input: string,
): Refusal {
  const values = { input: typed(cut(input)), ...parameterBounds(t, parameter) }
  switch (reason) {
    case 'not_understood':
      return {
        html: t.html(
          parameter.type === 'number' ? 'bot:typed.notChance' : 'bot:typed.notNumber',
          values,
        ),
      }
    case 'other_unit':
      if (parameter.type === 'number') throw new Error('a probability has no other unit')
      return { html: unitText(t, parameterUnit(parameter.unit), values) }
    case 'too_small':
      return { html: t.html('bot:typed.tooSmall', values) }
    case 'too_big':
      return { html: t.html('bot:typed.tooBig', values) }
    case 'too_many_decimals':
      return { html: t.html('bot:typed.decimals', { count: 0, example: values.example }) }
    default:
      return reason satisfies never
  }
}

/**
 * Changes one signal and shows its card.
 * @param options `notice`: HTML. `parameter`: the number that was changed, which a number that follows changes again
 */
async function set(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  change: Readonly<Record<string, unknown>> & { readonly id: string },
  options: { readonly notice?: string | undefined; readonly parameter?: string } = {},
): Promise<void> {
  const { notice, parameter } = options
  await changeWatch(ctx, { watch, link }, { signals: [change] }, async (changed) => {
    const messageId = await showSignal(ctx, changed, requireSignal(changed, change.id), {
      ...(notice !== undefined && { notice: `✓ ${notice}` }),
    })
    if (parameter === undefined) return
    const about = { id: watch.id, signal: change.id, parameter }
    await keepAnswered(ctx, { kind: parameterQuestion.kind, about, messageId })
  })
}

async function showSignal(
  ctx: BotContext,
  watch: Watch,
  view: SignalView,
  options: { readonly isHelped?: boolean; readonly notice?: string } = {},
): Promise<number> {
  return await show(
    ctx,
    signalCard(ctx.reader, watch, view, { now: ctx.app.clock.now(), ...options }),
  )
}

/** Runs an action on a signal; for an unknown signal shows the watch's card. */
async function withSignal(
  ctx: BotContext,
  id: number,
  signal: string,
  act: (watch: Watch, link: Membership, view: SignalView) => Promise<unknown>,
): Promise<void> {
  await withManaged(ctx, id, async (watch, link) => {
    const view = signalsOf(watch).find(({ definition }) => definition.id === signal)
    await (view === undefined ? showCard(ctx, id) : act(watch, link, view))
  })
}

function requireSignal(watch: Watch, signal: string): SignalView {
  const view = signalsOf(watch).find(({ definition }) => definition.id === signal)
  if (view === undefined) throw new Error(`${watch.type} has no signal ${signal}`)
  return view
}

function numberParameter({ definition }: SignalView, key: string): TypedParameter | undefined {
  const parameter = definition.parameters.find((candidate) => candidate.key === key)
  return parameter === undefined || parameter.type === 'boolean' ? undefined : parameter
}

function requireNumber(view: SignalView, key: string): TypedParameter {
  const found = numberParameter(view, key)
  if (found === undefined) throw new Error(`${view.definition.id} has no number ${key}`)
  return found
}

export const signalsFeature = defineFeature({
  commands: [],
  composer,
  questions: [parameterQuestion],
})
