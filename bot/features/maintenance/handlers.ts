import { Composer } from 'grammy'
import { z } from 'zod'
import { typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { createMaintenance, deleteMaintenance } from '#src/operations/rest/maintenance.ts'
import { getSettings, replaceSettings } from '#src/operations/rest/settings.ts'
import { currentWindows, MaintenanceWindow } from '#src/recipients/maintenance.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { defineQuestion } from '../../core/session.ts'
import { show } from '../../core/show.ts'
import { readStart } from '../../core/typed-input.ts'
import { cut } from '../../views/fields.ts'
import {
  lengthScreen,
  maintenanceScreen,
  plannedScreen,
  type ShownWindow,
  startQuestion,
  windowScreen,
} from './view.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'menu' } as const

const composer = new Composer<BotContext>()

async function listWindows(ctx: BotContext): Promise<readonly ShownWindow[]> {
  return currentWindows(await ctx.call(getSettings), ctx.app.clock.now())
}

/** @param notice line about the last action: HTML */
async function showMaintenance(ctx: BotContext, notice?: string): Promise<void> {
  const options = { now: ctx.app.clock.now(), notice }
  await show(ctx, maintenanceScreen(ctx.reader, await listWindows(ctx), options))
}

/** Shows one window with `draw`, or that it is over, and the others. */
async function withWindow(
  ctx: BotContext,
  windowId: string,
  draw: (window: ShownWindow) => Promise<unknown>,
): Promise<void> {
  const window = (await listWindows(ctx)).find(({ id }) => id === windowId)
  await (window === undefined
    ? showMaintenance(ctx, `⚠️ ${ctx.t.html('bot:maintenance.gone')}`)
    : draw(window))
}

onPress(composer, 'maintenance', PRIVATE, (ctx) => showMaintenance(ctx))

onPress(composer, 'maintenance.card', PRIVATE, (ctx, { windowId }) =>
  withWindow(ctx, windowId, (window) =>
    show(ctx, windowScreen(ctx.reader, window, { now: ctx.app.clock.now() })),
  ),
)

onPress(composer, 'maintenance.add', PRIVATE, async (ctx, { opened, minutes }) => {
  const from = opened === undefined ? {} : { from: new Date(opened * 1000).toISOString() }
  const body = { name: ctx.t('bot:maintenance.name'), minutes, ...from }
  const { id } = await ctx.call(createMaintenance, { body })
  await withWindow(ctx, id, (window) =>
    show(ctx, plannedScreen(ctx.reader, window, ctx.app.clock.now())),
  )
})

onPress(composer, 'maintenance.repeat', PRIVATE, async (ctx, { windowId, on }) => {
  const current = await ctx.call(getSettings)
  const { version: _, ...before } = current
  const maintenance = current.maintenance.map((window) =>
    z.encode(MaintenanceWindow, {
      ...window,
      repeat: window.id !== windowId ? window.repeat : on ? 'weekly' : null,
    }),
  )
  try {
    const body = { ...before, maintenance }
    await ctx.call(replaceSettings, { body, ifMatch: replaceSettings.etag?.(current) })
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'stale') throw error
    return showMaintenance(ctx, `⚠️ ${ctx.t.html('bot:error.changed')}`)
  }
  await withWindow(ctx, windowId, (window) =>
    show(ctx, plannedScreen(ctx.reader, window, ctx.app.clock.now())),
  )
})

onPress(composer, 'maintenance.end', PRIVATE, (ctx, { windowId }) =>
  withWindow(ctx, windowId, async ({ name }) => {
    await ctx.call(deleteMaintenance, { params: { id: windowId } })
    await showMaintenance(ctx, `✓ ${ctx.t.html('bot:maintenance.ended', { name: typed(name) })}`)
  }),
)

/** Question for the start of a window: a time of day, or a date with it. */
const startAsked = defineQuestion({
  kind: 'maintenance.start',
  about: z.object({}),
  ask: async (ctx) => startQuestion(ctx.reader),
  answer: async (ctx, _about, text) => {
    const now = ctx.app.clock.now()
    const from = readStart(text, ctx.reader.timezone, now)
    if (from === undefined) {
      return { html: ctx.t.html('bot:ask.notStart', { input: typed(cut(text)) }) }
    }
    await show(ctx, lengthScreen(ctx.reader, from, now))
    return undefined
  },
  cancel: (ctx) => showMaintenance(ctx),
})

onPress(composer, 'maintenance.ask', PRIVATE, (ctx) => startAsked.open(ctx, {}))

export const maintenanceFeature = defineFeature({
  commands: [],
  composer,
  questions: [startAsked],
})
