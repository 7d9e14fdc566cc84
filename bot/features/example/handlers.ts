import { Composer } from 'grammy'
import type { ArgumentsOf } from '#src/actions/codec.ts'
import { exampleLabel, isFirstExampleOpen } from '#src/alerts/messages/example.ts'
import { formatTime } from '#src/i18n/format.ts'
import { typed } from '#src/i18n/translate.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import type { ExamplePart } from '../../views/example-start.ts'
import { acknowledgedText, actorName } from '../alerts/action-handlers.ts'
import { type ExampleState, exampleAlert, exampleMuteEnd, pressedPart } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'demo', { unlinked: true }, async (ctx, args) => {
  const pressed = pressedPart(args.part)
  const state = stateAfter({ ...args, ...pressed }, ctx.app.clock.now())
  const sentence = sentenceOf(ctx, pressed.part, state)
  if (sentence !== undefined) await ctx.answer(sentence)
  const options = { by: actorName(ctx), isLinked: ctx.links.length > 0, pages: ctx.app.publicUrl }
  await show(ctx, exampleAlert(ctx.reader, state, options))
})

type Pressed = ReturnType<typeof pressedPart>

/** State of the example after a press, which toggles its part. */
function stateAfter(
  { part, opened, ...before }: Pressed & Omit<ArgumentsOf<'demo'>, 'part'>,
  now: Date,
): ExampleState {
  const state = { ...before, openedAt: opened === undefined ? now : new Date(opened * 1000) }
  switch (part) {
    case 's':
      return state
    case 'a':
      return { ...state, acknowledged: !state.acknowledged }
    case 'q':
      return { ...state, muted: !state.muted, open: undefined }
    case 'm':
    case 'd':
      return { ...state, open: state.open === part ? undefined : part }
    default:
      return part satisfies never
  }
}

/** Answer to a press of the example's button, in the words of a real alert. */
function sentenceOf(ctx: BotContext, part: ExamplePart, state: ExampleState): string | undefined {
  const { t, reader } = ctx
  if (part === 'a') {
    if (!state.acknowledged) return t('bot:toast.unacknowledged')
    return acknowledgedText(ctx, { isOpen: isFirstExampleOpen(state.kind) })
  }
  if (part !== 'q') return undefined
  if (!state.muted) return t('bot:watch.nowHeard')
  const offset = { offset: reader.timezone === 'UTC' }
  const time = formatTime(exampleMuteEnd(state), t.locale, reader.timezone, offset)
  return t('bot:toast.quietUntil', { label: typed(exampleLabel(state.kind, t.locale)), time })
}

export const exampleFeature = defineFeature({ commands: [], composer })
