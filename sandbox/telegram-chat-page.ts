import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { contentPolicy } from './content-policy.ts'
import { serveTopic } from './live.ts'
import { ChatPageAction, performChatPageAction } from './telegram/chat-page-actions.ts'
import { changeData, createReplacedButtons, pageSnapshot } from './telegram/chat-page-data.ts'
import { imageSize, sniffType } from './telegram/images.ts'
import type { TelegramApi } from './telegram-api.ts'

/** HTML around the chat, inserted unescaped. */
export interface ChatPageOptions {
  /** HTML above the chat. */
  readonly topBar?: string
  /** HTML in the page's head: style and script of the top bar. */
  readonly head?: string
  /** Where a page is fetched, if its address is not that of a server on this machine. */
  readonly locate?: (url: string) => string
}

const ASSETS = new URL('./telegram/browser/', import.meta.url)
const STYLES = ['chat', 'columns', 'messages', 'entities', 'composer']
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}
const POLICY = contentPolicy()

const AboutQuery = z.object({ chat: z.coerce.number().int(), person: z.coerce.number().int() })

/**
 * The chat page at `/chat`: every person and group of a local Bot API, as Telegram would show them.
 *
 * `?person=<username or name>` selects the person; `&start=<payload>` opens the bot like the link
 * `t.me/<bot>?start=<payload>`, `?startgroup=<payload>` asks for a group first.
 *
 * Long because it is the list of the page's routes.
 */
export function chatPages(api: TelegramApi, options: ChatPageOptions = {}): FastifyPluginAsync {
  return async (app) => {
    const old = createReplacedButtons()
    for (const chat of api.chats()) api.messages(chat.id).forEach(old.see)
    const stop = api.onChange((change) => {
      if (change.kind === 'message') old.see(change.message)
    })
    app.addHook('onClose', async () => stop())

    app.get('/chat', async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-store')
        .send(shell(options)),
    )
    for (const name of await readdir(ASSETS)) {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
      if (!type) continue
      const content = await readFile(new URL(name, ASSETS))
      app.get(`/chat/${name}`, async (_request, reply) =>
        reply.type(type).header('cache-control', 'no-cache').send(content),
      )
    }
    serveTopic(app, 'chat', (send) =>
      api.onChange((change) => {
        const data = changeData(api, old, change)
        if (data) send(data)
      }),
    )
    app.get('/chat/all', async () => pageSnapshot(api, old))
    app.get('/chat/about', async (request, reply) => {
      const query = AboutQuery.safeParse(request.query)
      const chat = api.chats().find((known) => known.id === query.data?.chat)
      const person = api.chats().find((known) => known.id === query.data?.person)
      if (!chat || person?.type !== 'private') return reply.code(404).send({ error: 'not found' })
      return {
        commands: api.commandsFor(chat.id, person.id),
        name: api.profileText('name', person.person.languageCode),
        description: api.profileText('description', person.person.languageCode),
      }
    })
    app.get<{ Params: { id: string } }>('/chat/files/:id', async (request, reply) => {
      const file = api.file(request.params.id)
      if (!file) return reply.code(404).send({ error: 'not found' })
      // Only pictures are shown; other files of a bot are downloaded, never opened in this origin.
      const isPicture = file.mimeType === 'image/png' || file.mimeType === 'image/jpeg'
      const type = isPicture ? file.mimeType : 'application/octet-stream'
      const name = encodeURIComponent(file.name)
      return reply
        .type(type)
        .header('x-content-type-options', 'nosniff')
        .header(
          'content-disposition',
          `${isPicture ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
        )
        .send(Buffer.from(file.bytes))
    })
    servePreviews(app, api, options)
    app.post('/chat/act', async (request, reply) => {
      const act = ChatPageAction.safeParse(request.body)
      if (!act.success) return reply.code(400).send({ error: z.prettifyError(act.error) })
      try {
        return performChatPageAction(api, act.data)
      } catch (problem) {
        const error = problem instanceof Error ? problem.message : 'that did not work'
        return reply.code(400).send({ error })
      }
    })
  }
}

const FETCH_MS = 10_000

/** Pictures of the pages that messages show. Like Telegram, fetches each page once, and keeps its picture. */
function servePreviews(
  app: FastifyInstance,
  api: TelegramApi,
  { locate = (url) => url }: ChatPageOptions,
): void {
  const kept = new Map<string, Buffer>()
  const pictureOf = async (url: string) => {
    const known = kept.get(url)
    if (known) return known
    const answer = await fetch(locate(url), { signal: AbortSignal.timeout(FETCH_MS) })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (!answer.ok || !imageSize(bytes)) return undefined
    kept.set(url, bytes)
    return bytes
  }
  app.get<{ Params: { chat: string; message: string } }>(
    '/chat/previews/:chat/:message',
    async ({ params }, reply) => {
      const messages = api.messages(Number(params.chat))
      const message = messages.find(({ id }) => id === Number(params.message))
      const url = message?.linkPreview?.url
      const bytes = url && (await pictureOf(url).catch(() => undefined))
      if (!bytes) return reply.code(404).send({ error: 'not found' })
      return reply
        .type(sniffType(bytes, ''))
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'private, max-age=3600')
        .send(bytes)
    },
  )
}

/** The page without content, which its script adds. */
function shell({ topBar = '', head = '' }: ChatPageOptions): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Chat · Watchdog sandbox</title>
<link rel="icon" href="data:,">
${head}
${STYLES.map((name) => `<link rel="stylesheet" href="/chat/${name}.css">`).join('\n')}
<script type="module" src="/chat/main.js"></script>
</head>
<body class="chat-page">
${topBar}
<main class="tg" id="content">
<noscript>This page needs JavaScript.</noscript>
</main>
</body>
</html>
`
}
