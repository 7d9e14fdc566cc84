import { Composer } from 'grammy'
import { z } from 'zod'
import { packed } from '#src/actions/codec.ts'
import { id as bare, typed } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import { AppError } from '#src/kernel/errors.ts'
import { updateChat } from '#src/operations/chat/chat.ts'
import { getSettings, replaceSettings } from '#src/operations/rest/settings.ts'
import type { Settings } from '#src/recipients/settings.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { defineQuestion } from '../../core/session.ts'
import { isDelivered, show } from '../../core/show.ts'
import { readTime } from '../../core/typed-input.ts'
import { cut } from '../../views/fields.ts'
import { inRows, type Reader, type View } from '../../views/view.ts'
import { cityList, zoneButton, zonesFor } from '../../views/zones.ts'
import { SEVERITY_BY_CODE } from '../recipients/edit-view.ts'
import {
  alertTimesScreen,
  digestScreen,
  quietScreen,
  REMINDERS,
  type RemindChoice,
  remindScreen,
  settingsScreen,
  severityScreen,
  timeQuestion,
  unpackedTime,
  zoneScreen,
} from './view.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'menu' } as const

const composer = new Composer<BotContext>()

onCommand(composer, 'settings', (ctx) => showSettings(ctx), { privately: 'menu' })
onPress(composer, 'settings', PRIVATE, (ctx) => showSettings(ctx))

/**
 * Shows all settings.
 * @param notice line about the last action: HTML
 */
export async function showSettings(ctx: BotContext, notice?: string): Promise<void> {
  const wallet = await readWallet(ctx)
  await show(
    ctx,
    settingsScreen(ctx.reader, wallet, {
      now: ctx.app.clock.now(),
      pages: ctx.app.publicUrl,
      notice,
    }),
  )
}

/** The chat's wallet with its settings; undefined if the chat may not change them. */
async function readWallet(ctx: BotContext) {
  const [link] = ctx.links
  if (link?.caller.scopes.includes('write') !== true) return undefined
  return { address: link.wallet, settings: await ctx.call(getSettings) }
}

onPress(composer, 'settings.alerts', PRIVATE, async (ctx) => {
  const wallet = await readWallet(ctx)
  if (wallet === undefined) return showSettings(ctx)
  await show(ctx, alertTimesScreen(ctx.reader, wallet))
})

type ScreenOf = (
  reader: Reader,
  settings: Settings,
  options: { readonly notice?: string | undefined },
) => View

/**
 * Changes the wallet's settings as last read, and shows them. After a concurrent change the settings are
 * read again and shown with a note.
 */
async function change(
  ctx: BotContext,
  changes: (settings: Settings) => Partial<Omit<Settings, 'maintenance'>>,
  draw: ScreenOf,
): Promise<void> {
  const current = await ctx.call(getSettings)
  try {
    await save(ctx, changes(current), current)
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'stale') throw error
    return showPart(ctx, draw, `⚠️ ${ctx.t.html('bot:error.changed')}`)
  }
  await showPart(ctx, draw)
}

/**
 * Changes the wallet's settings as last read. Without the windows of maintenance in the body, these stay as they are.
 *
 * @throws AppError stale after a concurrent change
 */
async function save(
  ctx: BotContext,
  changes: Partial<Omit<Settings, 'maintenance'>>,
  current?: Settings,
): Promise<void> {
  const read = current ?? (await ctx.call(getSettings))
  const { version: _, maintenance: __, ...before } = read
  const body = { ...before, ...changes }
  await ctx.call(replaceSettings, { body, ifMatch: replaceSettings.etag?.(read) })
}

async function showPart(ctx: BotContext, draw: ScreenOf, notice?: string): Promise<void> {
  await show(ctx, draw(ctx.reader, await ctx.call(getSettings), { notice }))
}

onPress(composer, 'settings.severity', PRIVATE, async (ctx, { level }) => {
  const minSeverity = SEVERITY_BY_CODE[level]
  await (minSeverity === undefined
    ? showPart(ctx, severityScreen)
    : change(ctx, () => ({ minSeverity }), severityScreen))
})

onPress(composer, 'settings.recoveries', PRIVATE, (ctx, { on }) =>
  change(ctx, () => ({ recoveries: on }), severityScreen),
)

onPress(composer, 'settings.weekly', PRIVATE, (ctx, { on }) =>
  ask(ctx, { weeklyCard: on }, ctx.t(`bot:settings.weekly.${on ? 'on' : 'off'}`)),
)

onPress(composer, 'settings.report', PRIVATE, (ctx, { on }) =>
  ask(ctx, { epochReport: on }, ctx.t(`bot:settings.report.${on ? 'on' : 'off'}`)),
)

/** Asks for messages that no event causes, or for none. @param said answer to the press */
async function ask(
  ctx: BotContext,
  changes: Partial<Pick<Settings, 'weeklyCard' | 'epochReport'>>,
  said: string,
): Promise<void> {
  await save(ctx, changes)
  // The button below such a message leaves the message as it is.
  if (await isDelivered(ctx)) return ctx.answer(said)
  await showPart(ctx, digestScreen)
}

onPress(composer, 'settings.quiet', PRIVATE, async (ctx, { field, value }) => {
  const set = (changes: Partial<Settings['quietHours']>) =>
    change(ctx, ({ quietHours }) => ({ quietHours: { ...quietHours, ...changes } }), quietScreen)
  const time = unpackedTime(value)
  switch (field) {
    case 'on':
      return value === '1' ? switchQuietOn(ctx) : set({ enabled: false })
    case 'crit':
      return set({ criticalBypass: value === '1' })
    case 'from':
      return time === undefined ? showPart(ctx, quietScreen) : setQuietTime(ctx, 'from', time)
    case 'to':
      return time === undefined ? showPart(ctx, quietScreen) : setQuietTime(ctx, 'to', time)
    case 'ask':
      return timeAsked.open(ctx, { what: value === 'to' ? 'to' : 'from' })
    default:
      return showPart(ctx, quietScreen)
  }
})

/** Enables the quiet hours. Equal bounds, which a program may have set while they were off, are refused. */
async function switchQuietOn(ctx: BotContext): Promise<void> {
  const { quietHours } = await ctx.call(getSettings)
  if (quietHours.from === quietHours.to) {
    return showPart(ctx, quietScreen, `⚠️ ${ctx.t.html('bot:quiet.same')}`)
  }
  await change(
    ctx,
    (settings) => ({ quietHours: { ...settings.quietHours, enabled: true } }),
    quietScreen,
  )
}

/** Sets a bound of the quiet hours and enables them. Equal bounds are refused. */
async function setQuietTime(ctx: BotContext, bound: 'from' | 'to', time: string): Promise<void> {
  const { quietHours } = await ctx.call(getSettings)
  const other = bound === 'from' ? quietHours.to : quietHours.from
  if (other === time) {
    return showPart(ctx, quietScreen, `⚠️ ${ctx.t.html('bot:quiet.same')}`)
  }
  await change(
    ctx,
    (settings) => ({ quietHours: { ...settings.quietHours, enabled: true, [bound]: time } }),
    quietScreen,
  )
}

onPress(composer, 'settings.digest', PRIVATE, async (ctx, { value }) => {
  if (value === 'ask') return timeAsked.open(ctx, { what: 'digest' })
  const time = unpackedTime(value.replace(/^at/, ''))
  if (time !== undefined) return setDigestTime(ctx, time)
  const digest = z.enum(['off', '15m', '1h', 'daily']).safeParse(value).data
  await (digest === undefined
    ? showPart(ctx, digestScreen)
    : change(ctx, () => ({ digest }), digestScreen))
})

function setDigestTime(ctx: BotContext, digestAt: string): Promise<void> {
  return change(ctx, () => ({ digest: 'daily', digestAt }), digestScreen)
}

/** Question for a time of day. */
const timeAsked = defineQuestion({
  kind: 'settings.time',
  about: z.object({ what: z.enum(['from', 'to', 'digest']) }),
  ask: async (ctx, { what }) => timeQuestion(ctx.reader, what),
  answer: async (ctx, { what }, text) => {
    const time = readTime(text)
    if (time === undefined) {
      const input = typed(cut(text))
      return { html: ctx.t.html('bot:ask.notTime', { input }) }
    }
    await (what === 'digest' ? setDigestTime(ctx, time) : setQuietTime(ctx, what, time))
    return undefined
  },
  cancel: (ctx, { what }) => showPart(ctx, what === 'digest' ? digestScreen : quietScreen),
})

onPress(composer, 'settings.remind', PRIVATE, async (ctx, { choice }) => {
  if (!isChoice(choice)) return showPart(ctx, remindScreen)
  const repeat = { critical: [...REMINDERS[choice]] }
  // The button belongs to a reminder: the press gets an answer, and the message stays as it is.
  if (!(await isDelivered(ctx))) return change(ctx, () => ({ repeat }), remindScreen)
  await save(ctx, { repeat })
  await ctx.answer(ctx.t('bot:toast.remindersOff'))
})

function isChoice(text: string): text is RemindChoice {
  return Object.hasOwn(REMINDERS, text)
}

/** Question for the time zone of the chat. */
const zoneAsked = defineQuestion({
  kind: 'settings.zone',
  about: z.object({}),
  ask: async (ctx) => zoneScreen(ctx.reader, { now: ctx.app.clock.now() }),
  answer: async (ctx, _about, text) => {
    const [zone, ...others] = zonesFor(text)
    if (zone === undefined) {
      return { html: ctx.t.html('bot:zone.unknown', { input: typed(cut(text)) }) }
    }
    if (others.length === 0) {
      await setZone(ctx, zone)
      return undefined
    }
    const now = ctx.app.clock.now()
    const buttons = [zone, ...others].map((zoneName) =>
      zoneButton(ctx.reader, zoneName, now, packed('settings.zoneSet', { zone: zoneName })),
    )
    return { html: ctx.t.html('bot:zone.several'), rows: inRows(buttons, 2) }
  },
  cancel: (ctx) => showSettings(ctx),
})

onPress(composer, 'settings.zone', PRIVATE, async (ctx, { region, page }) => {
  const list = cityList(ctx.reader, region, { page, now: ctx.app.clock.now() })
  await (list === undefined ? zoneAsked.open(ctx, {}) : show(ctx, list))
})

onPress(composer, 'settings.zoneSet', PRIVATE, (ctx, { zone }) => setZone(ctx, zone))

async function setZone(ctx: BotContext, timezone: string): Promise<void> {
  await ctx.call(updateChat, { body: { chatId: ctx.knownChat.id, timezone } })
  await identifyAgain(ctx)
  await showSettings(ctx, `✓ ${ctx.t.html('bot:zone.set', { zone: bare(modernZone(timezone)) })}`)
}

export const settingsFeature = defineFeature({
  commands: [{ name: 'settings', menus: ['private'] }],
  composer,
  questions: [timeAsked, zoneAsked],
})
