import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { INBOX_MODES, type Inbox, type InboxMode } from '../inbox.ts'
import { acceptForms, renderView, sandboxPage, sendPage, serveLayout } from '../layout.ts'
import { serveTopic } from '../live.ts'
import { confirmLinkOf, type Mail, oneClickUrlOf, unsubscribe } from './mail.ts'

const MODE_LABELS: Readonly<Record<InboxMode, string>> = {
  ok: 'ok',
  temporary: '450',
  permanent: '550',
  down: 'down',
}

const View = z.object({
  mail: z.coerce.number().int().optional().catch(undefined),
  scheme: z.enum(['light', 'dark']).catch('light'),
  width: z.enum(['desktop', 'phone']).catch('desktop'),
})
type View = z.output<typeof View>

const ModeForm = z.object({ mode: z.enum(INBOX_MODES) })
const MailPath = z.object({ id: z.coerce.number().int() })

/** Outcomes of “One-click unsubscribe”, by mail. */
type Outcomes = Map<number, { readonly isGood: boolean; readonly text: string }>

/** The page `/inbox`: every mail with its rendering and actions, and the response to mail. */
export async function inboxPage(app: FastifyInstance, { inbox }: { inbox: Inbox }): Promise<void> {
  const outcomes: Outcomes = new Map()
  const findMail = (params: unknown) => {
    const { id } = MailPath.parse(params)
    return inbox.mails.find((mail) => mail.id === id)
  }
  serveLayout(app)
  acceptForms(app)
  serveTopic(app, 'inbox', (send) => inbox.subscribe(() => send('changed')))

  app.get('/inbox', (request, reply) =>
    sendPage(reply, render(inbox, View.parse(request.query), outcomes)),
  )
  app.get('/inbox/mails/:id/source', (request, reply) => {
    const mail = findMail(request.params)
    return mail === undefined ? notThere(reply) : reply.type('text/plain').send(mail.raw)
  })
  app.post('/inbox/mails/:id/unsubscribe', async (request, reply) => {
    const mail = findMail(request.params)
    if (mail === undefined) return notThere(reply)
    outcomes.set(mail.id, await outcomeOf(mail))
    return reply.redirect(hrefOf({ ...View.parse(request.query), mail: mail.id }), 303)
  })
  app.post('/inbox/mode', async (request, reply) => {
    const form = ModeForm.safeParse(request.body)
    if (!form.success) return reply.code(400).type('text/plain').send('Unknown mode')
    await inbox.setMode(form.data.mode)
    return reply.redirect(hrefOf(View.parse(request.query)), 303)
  })
  app.post('/inbox/clear', (request, reply) => {
    inbox.clear()
    return reply.redirect(hrefOf({ ...View.parse(request.query), mail: undefined }), 303)
  })
}

async function outcomeOf(mail: Mail): Promise<{ isGood: boolean; text: string }> {
  try {
    const status = await unsubscribe(mail)
    return { isGood: status >= 200 && status < 300, text: `answered ${status}` }
  } catch (error) {
    return { isGood: false, text: error instanceof Error ? error.message : 'no answer' }
  }
}

function render(inbox: Inbox, view: View, outcomes: Outcomes): string {
  const newestFirst = inbox.mails.toReversed()
  const shown = newestFirst.find(({ id }) => id === view.mail) ?? newestFirst[0]
  const body = renderView('inbox', {
    smtpUrl: inbox.url,
    query: hrefOf(view).slice('/inbox'.length),
    modes: INBOX_MODES.map((mode) => ({
      mode,
      label: MODE_LABELS[mode],
      isCurrent: mode === inbox.mode,
    })),
    mails: newestFirst.map((mail) => ({
      ...mail,
      time: timeOf(mail),
      href: hrefOf({ ...view, mail: mail.id }),
      isCurrent: mail === shown,
    })),
    mail: shown === undefined ? undefined : shownMail(shown, inbox.mails, view, outcomes),
  })
  return sandboxPage({ title: 'Inbox', current: 'inbox', topic: 'inbox', body })
}

function shownMail(mail: Mail, all: readonly Mail[], view: View, outcomes: Outcomes) {
  const parent = all.find(
    ({ messageId }) => messageId !== undefined && messageId === mail.inReplyTo,
  )
  return {
    ...mail,
    time: mail.receivedAt.toISOString().slice(0, 19).replace('T', ' '),
    parent: parent && { subject: parent.subject, href: hrefOf({ ...view, mail: parent.id }) },
    confirmLink: confirmLinkOf(mail),
    isOneClick: oneClickUrlOf(mail) !== undefined,
    outcome: outcomes.get(mail.id),
    frame: mail.html === undefined ? undefined : openLinksInTabs(seenIn(view.scheme, mail.html)),
    looks: `${view.scheme} ${view.width}`,
    toggles: [
      choice('Colours', 'scheme', ['light', 'dark'], view),
      choice('Width', 'width', ['desktop', 'phone'], view),
    ],
  }
}

function choice(label: string, key: 'scheme' | 'width', values: readonly string[], view: View) {
  const options = values.map((value) => ({
    value,
    href: hrefOf({ ...view, [key]: value }),
    isCurrent: view[key] === value,
  }))
  return { label, options }
}

/**
 * Renders the mail in a colour scheme, independent of the browser's own preference, by replacing media
 * queries about it.
 */
function seenIn(scheme: View['scheme'], html: string): string {
  return html
    .replace(/\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi, (_query, asked: string) =>
      asked.toLowerCase() === scheme ? '(min-width: 0)' : '(max-width: 0)',
    )
    .replace(/(<meta\s+name="color-scheme"\s+content=")light dark(?=")/i, `$1${scheme}`)
    .replace(/(?<!prefers-)color-scheme\s*:\s*light dark/gi, `color-scheme: ${scheme}`)
}

/** Links would otherwise open inside the frame, where most pages refuse to be shown. */
function openLinksInTabs(html: string): string {
  return html.replace(/<head\b[^>]*>/i, (head) => `${head}<base target="_blank">`)
}

function hrefOf({ mail, scheme, width }: View): string {
  const query = new URLSearchParams()
  if (mail !== undefined) query.set('mail', `${mail}`)
  if (scheme !== 'light') query.set('scheme', scheme)
  if (width !== 'desktop') query.set('width', width)
  return query.size === 0 ? '/inbox' : `/inbox?${query}`
}

function timeOf({ receivedAt }: Mail): string {
  return receivedAt.toISOString().slice(11, 19)
}

function notThere(reply: FastifyReply): FastifyReply {
  return reply.code(404).type('text/plain').send('No such mail')
}
