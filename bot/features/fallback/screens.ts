/** Shows the screens that people ask for in words. */
import { isReceiveOnly } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { send } from '../../core/show.ts'
import { unlinked } from '../../views/refusals.ts'
import { showAlerts } from '../alerts/history-handlers.ts'
import { showConnect } from '../connect/handlers.ts'
import { helpMenu, helpPage } from '../help/view.ts'
import { showLanguages } from '../language/handlers.ts'
import { showMuted } from '../mute/handlers.ts'
import { openWizard } from '../new/handlers.ts'
import { askForProvider } from '../provider/handlers.ts'
import { showRecipients } from '../recipients/handlers.ts'
import { showSettings } from '../settings/handlers.ts'
import { showSlots } from '../slots/handlers.ts'
import { sendHome } from '../start/home.ts'
import { showStatus } from '../status/handlers.ts'
import { stopHere } from '../stop/handlers.ts'
import { showWallets } from '../wallets/handlers.ts'
import { showList } from '../watches/screens.ts'
import type { WordedScreen } from './words.ts'

type Show = (ctx: BotContext) => Promise<unknown>

const SCREENS: Readonly<Record<WordedScreen, Show>> = {
  menu: (ctx) => sendHome(ctx),
  help: showHelp,
  status: showStatus,
  watches: (ctx) => showList(ctx, { page: 1 }),
  new: (ctx) => openWizard(ctx, ''),
  alerts: (ctx) => showAlerts(ctx),
  mute: (ctx) => showMuted(ctx),
  stop: stopHere,
  cost: showPrices,
  credits: showSlots,
  recipients: (ctx) => showRecipients(ctx),
  settings: (ctx) => showSettings(ctx),
  language: showLanguages,
  wallets: (ctx) => showWallets(ctx),
  connect: (ctx) => showConnect(ctx),
  provider: askForProvider,
  thanks: (ctx) => send(ctx, { html: ctx.t.html('bot:unknown.welcome'), rows: [] }),
}

async function showHelp(ctx: BotContext): Promise<void> {
  const { app } = ctx
  const rights = { isReceiveOnly: isReceiveOnly(ctx), support: app.supportUrl }
  await send(ctx, helpMenu(ctx.reader, { ...rights, pages: app.publicUrl }))
}

/** Shows the page of the help about prices; of a service without prices, the first steps. */
async function showPrices(ctx: BotContext): Promise<void> {
  const { app, links, reader } = ctx
  const [link] = links
  const page = helpPage(reader, app.billing.enabled ? 'credits' : 'first', {
    commands: [],
    pages: app.publicUrl,
    support: app.supportUrl,
    isLinked: link !== undefined,
    canWrite: link?.caller.scopes.includes('write') === true,
  })
  await send(ctx, page)
}

/** Screens that a chat without a wallet sees. */
const UNLINKED: ReadonlySet<WordedScreen> = new Set([
  'menu',
  'help',
  'cost',
  'stop',
  'language',
  'connect',
  'thanks',
])

/** Shows the screen; a chat without a wallet sees how to connect one, if the screen is about it. */
export async function showWorded(ctx: BotContext, screen: WordedScreen): Promise<void> {
  if (ctx.links.length === 0 && !UNLINKED.has(screen)) await send(ctx, unlinked(ctx.reader))
  else await SCREENS[screen](ctx)
}
