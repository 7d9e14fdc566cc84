import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import {
  type ControlPanel,
  type ControlPanelState,
  createControlPanel,
  MAILBOX,
} from '../control-panel.ts'
import { acceptForms, renderView, sandboxPage, sendPage, serveLayout } from '../layout.ts'
import { serveTopic } from '../live.ts'
import { flrText } from '../scenarios/page.ts'
import type { WorldParts } from '../world/parts.ts'
import { checkParts } from './parts.ts'
import { createSamplePages, type Link, type SamplePage } from './samples.ts'

const STYLE = readFileSync(new URL('../browser/world.css', import.meta.url))
const REFRESH_MS = 2000
const LinkForm = z.object({ link: z.string().trim() })
const SampleForm = z.object({ sample: z.string() })

/** The page `/`: state of all parts, first steps, and links. Long because it is the list of its routes. */
export async function homePage(
  app: FastifyInstance,
  { world }: { world: WorldParts },
): Promise<void> {
  const panel = createControlPanel(world)
  const samples = createSamplePages(world, panel)
  let problem: string | undefined
  serveLayout(app)
  acceptForms(app)
  serveTopic(app, 'home', (send) => {
    const timer = setInterval(() => send('look again'), REFRESH_MS)
    return () => clearInterval(timer)
  })

  /** Runs an action as Alice and redirects to a page. After an error, redirects to this page, which shows it. */
  const act = async (reply: FastifyReply, work: () => Promise<string>) => {
    try {
      const next = await work()
      problem = undefined
      return reply.redirect(next, 303)
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
      return reply.redirect('/', 303)
    }
  }

  app.get('/world.css', (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'no-cache').send(STYLE),
  )
  app.get('/', async (_request, reply) =>
    sendPage(reply, await render(world, { panel, samples, problem })),
  )
  app.get('/terms', (_request, reply) => sendPage(reply, terms()))
  app.post('/home/link', (_request, reply) =>
    act(reply, async () => chatPathOf(world, await panel.makeChatLink())),
  )
  app.post('/home/watch', (_request, reply) =>
    act(reply, async () => {
      await panel.watchBalance()
      return '/'
    }),
  )
  app.post('/home/destinations', (_request, reply) =>
    act(reply, async () => {
      await panel.setUpMailAndWebhook()
      return '/'
    }),
  )
  app.post('/home/sample', (request, reply) =>
    act(reply, async () => {
      const { sample } = SampleForm.parse(request.body)
      const chosen = samples.find(({ id }) => id === sample)
      if (chosen === undefined) throw new Error(`There is no page called ${sample}.`)
      await chosen.make()
      return `/#sample-${chosen.id}`
    }),
  )
  app.post('/home/open', (request, reply) =>
    act(reply, async () => chatPathOf(world, LinkForm.parse(request.body).link)),
  )
}

/**
 * Path of the chat page that opens a `t.me` link, as Ann.
 * @throws Error when the link is not to the bot
 */
function chatPathOf({ telegram }: WorldParts, link: string): string {
  const url = URL.parse(link)
  if (url?.host !== 't.me' || url.pathname !== `/${telegram.bot.username}`) {
    throw new Error(`This is no link to the bot: https://t.me/${telegram.bot.username}?start=…`)
  }
  return `/chat?${new URLSearchParams([['person', 'ann'], ...url.searchParams])}`
}

interface Shown {
  readonly panel: ControlPanel
  readonly samples: readonly SamplePage[]
  readonly problem: string | undefined
}

async function render(world: WorldParts, { panel, samples, problem }: Shown): Promise<string> {
  const [parts, state, wallets, found] = await Promise.all([
    checkParts(world),
    panel.state().catch(() => undefined),
    walletsOf(world),
    Promise.all(samples.map(async ({ id, label, find }) => ({ id, label, href: await find() }))),
  ])
  const down = parts.filter(({ works }) => !works).map(({ name }) => name)
  const body = renderView('home', {
    down,
    problem,
    mailbox: MAILBOX,
    steps: stepsDone(state),
    parts,
    wallets,
    token: panel.token(),
    api: `${world.service.publicUrl}/api/x402`,
    bot: world.telegram.bot.username,
    pages: servicePages(world),
    samples: found,
  })
  return sandboxPage({
    title: 'Index',
    current: 'index',
    topic: 'home',
    style: '/world.css',
    body,
  })
}

function stepsDone(state: ControlPanelState | undefined) {
  return {
    link: state?.isChatLinked === true,
    watch: state?.hasAnyWatch === true,
    alert: state?.hasAlert === true,
    destinations: state?.mailState === 'yes' && state.hasWebhook,
    isMailPending: state?.mailState === 'pending',
  }
}

async function walletsOf({ devnet: { client, people } }: WorldParts) {
  return Promise.all(
    Object.values(people).map(async ({ name, account: { address } }) => ({
      name,
      address,
      balance: flrText(await client.getBalance({ address })),
    })),
  )
}

function servicePages({ service: { publicUrl, internalUrl } }: WorldParts): readonly Link[] {
  return [
    { label: 'Start page', href: `${publicUrl}/` },
    { label: 'Documentation', href: `${publicUrl}/docs` },
    { label: 'Problems', href: `${publicUrl}/problems` },
    { label: 'Pricing document', href: `${publicUrl}/api/x402/pricing` },
    { label: 'OpenAPI', href: `${publicUrl}/api/x402/openapi.json` },
    { label: 'Readiness', href: `${internalUrl}/readyz` },
    { label: 'Metrics', href: `${internalUrl}/metrics` },
  ]
}

function terms(): string {
  const body = renderView('terms', {})
  return sandboxPage({ title: 'Terms', current: 'index', body })
}
