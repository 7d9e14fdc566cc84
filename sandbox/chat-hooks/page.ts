import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ChatHooks, PostedMessage } from '../chat-hooks.ts'
import { acceptForms, renderView, sandboxPage, sendPage, serveLayout } from '../layout.ts'
import { serveTopic } from '../live.ts'
import { drawnByDiscord } from './discord.ts'
import { drawnBySlack } from './slack.ts'

const NAMES: Readonly<Record<PostedMessage['service'], string>> = {
  discord: 'Discord',
  slack: 'Slack',
  ntfy: 'ntfy',
  pagerduty: 'PagerDuty',
}
const STATES = { trigger: 'triggered', acknowledge: 'acknowledged', resolve: 'resolved' }

const View = z.object({ message: z.string().optional().catch(undefined) })

/** The page `/hooks`: the messages in Discord, Slack, ntfy and PagerDuty, and the addresses of each. */
export async function hooksPage(
  app: FastifyInstance,
  { hooks }: { hooks: ChatHooks },
): Promise<void> {
  const urls = [
    { name: NAMES.discord, url: hooks.discordUrl() },
    { name: NAMES.slack, url: hooks.slackUrl() },
    { name: NAMES.ntfy, url: hooks.ntfyUrl() },
    { name: NAMES.pagerduty, url: hooks.pagerDutyUrl() },
  ]
  serveLayout(app)
  acceptForms(app)
  serveTopic(app, 'hooks', (send) => hooks.subscribe(() => send('changed')))

  app.get('/hooks', (request, reply) =>
    sendPage(reply, render(hooks, urls, View.parse(request.query).message)),
  )
  app.post('/hooks/clear', (_request, reply) => {
    hooks.clear()
    return reply.redirect('/hooks', 303)
  })
}

function render(
  hooks: ChatHooks,
  urls: readonly { readonly name: string; readonly url: string }[],
  key: string | undefined,
): string {
  const newestFirst = hooks.messages.toReversed()
  const shown = newestFirst.find((message) => keyOf(message) === key) ?? newestFirst[0]
  const body = renderView('hooks', {
    urls,
    refused: hooks.refused.toReversed(),
    messages: newestFirst.map((message) => ({
      ...summaryOf(message),
      isCurrent: message === shown,
    })),
    message: shown && {
      ...summaryOf(shown),
      ...(shown.service === 'discord' && { discord: drawnByDiscord(shown.body) }),
      ...(shown.service === 'slack' && { slack: drawnBySlack(shown.body) }),
      json: JSON.stringify(shown.body, null, 2),
    },
  })
  return sandboxPage({ title: 'Chats and pagers', current: 'hooks', topic: 'hooks', body })
}

function summaryOf(message: PostedMessage) {
  const [title = '', ...lines] = message.shown.split('\n').filter((line) => line.trim() !== '')
  const key = keyOf(message)
  return {
    key,
    href: `/hooks?message=${key}`,
    service: NAMES[message.service],
    hook: message.hook,
    at: message.at.toISOString(),
    title,
    text: lines.join('\n'),
    edits: message.edits,
    ...(message.action && { state: STATES[message.action] }),
  }
}

function keyOf({ service, id }: PostedMessage): string {
  return `${service}-${id.replace(/[^\w-]/g, '-')}`
}
