import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { acceptForms, renderView, sandboxPage, sendPage, serveLayout } from '../layout.ts'
import { serveTopic } from '../live.ts'
import { type HookAnswer, MAIN_HOOK, type ReceivedRequest, type Receiver } from '../receiver.ts'
import type { SignatureVerdict } from '../verify.ts'

/** Responses to choose from, by label. */
const ANSWERS: ReadonlyMap<string, HookAnswer> = new Map<string, HookAnswer>([
  ['200', 200],
  ['500', 500],
  ['410', 410],
  ['429 Retry-After 60', { status: 429, headers: { 'retry-after': '60' } }],
  ['hang', 'hang'],
  ['reset', 'reset'],
])

const REASONS: Readonly<Record<Extract<SignatureVerdict, { ok: false }>['reason'], string>> = {
  missing: 'not sent',
  malformed: 'its timestamp is not a number of seconds',
  stale: 'its timestamp is more than 300 s off',
  mismatch: 'does not fit the secret and the body',
}

const TOLERANCE_SECONDS = 300

const View = z.object({ delivery: z.coerce.number().int().optional().catch(undefined) })
const AnswerForm = z.object({ answer: z.string() })
const SecretForm = z.object({
  hook: z
    .string()
    .trim()
    .regex(/^[\w-]{1,64}$/),
  secret: z.string().trim(),
})

const VERIFY_SOURCE = readFileSync(new URL('../verify.ts', import.meta.url), 'utf8')

interface SignatureCheck {
  readonly state: 'fine' | 'critical' | 'muted'
  readonly text: string
}

/** The page `/receiver`: every delivery with its verification, and the next responses. */
export async function receiverPage(
  app: FastifyInstance,
  { receiver }: { receiver: Receiver },
): Promise<void> {
  serveLayout(app)
  acceptForms(app)
  serveTopic(app, 'receiver', (send) => receiver.subscribe(() => send('changed')))

  app.get('/receiver', (request, reply) =>
    sendPage(reply, render(receiver, View.parse(request.query).delivery)),
  )
  app.post('/receiver/answers', (request, reply) => {
    const form = AnswerForm.safeParse(request.body)
    const answer = form.success ? ANSWERS.get(form.data.answer) : undefined
    if (answer === undefined) return reply.code(400).type('text/plain').send('Unknown answer')
    receiver.answerNext(answer)
    return reply.redirect('/receiver', 303)
  })
  app.post('/receiver/answers/cancel', (_request, reply) => {
    receiver.cancelAnswers()
    return reply.redirect('/receiver', 303)
  })
  app.post('/receiver/secret', (request, reply) => {
    const form = SecretForm.safeParse(request.body)
    if (!form.success) {
      return reply.code(400).type('text/plain').send('A hook is named by letters, digits, _ and -')
    }
    const { hook, secret } = form.data
    receiver.setSecret(hook, secret === '' ? undefined : secret)
    return reply.redirect('/receiver', 303)
  })
  app.post('/receiver/clear', (_request, reply) => {
    receiver.clear()
    return reply.redirect('/receiver', 303)
  })
}

function render(receiver: Receiver, id: number | undefined): string {
  const newestFirst = receiver.deliveries.toReversed()
  const shown = newestFirst.find((delivery) => delivery.id === id) ?? newestFirst[0]
  const body = renderView('receiver', {
    url: receiver.url(),
    mainHook: MAIN_HOOK,
    answers: [...ANSWERS.keys()],
    nextAnswers: receiver.nextAnswers.map(labelOf),
    hooks: [...receiver.secrets].map(([name, secret]) => ({
      url: receiver.url(name),
      secret: `${secret.slice(0, 10)}…`,
    })),
    deliveries: newestFirst.map((delivery) => ({
      ...summaryOf(delivery),
      isCurrent: delivery === shown,
    })),
    delivery: shown && {
      ...summaryOf(shown),
      checks: checksOf(shown),
      pretty: shown.json === undefined ? undefined : JSON.stringify(shown.json, null, 2),
      raw: shown.rawBody.toString('utf8'),
      headers: Object.entries(shown.headers),
    },
    verifySource: VERIFY_SOURCE,
  })
  return sandboxPage({ title: 'Receiver', current: 'receiver', topic: 'receiver', body })
}

function summaryOf(delivery: ReceivedRequest) {
  return {
    id: delivery.id,
    href: `/receiver?delivery=${delivery.id}`,
    at: delivery.receivedAt.toISOString(),
    hook: delivery.hook,
    event: delivery.headers['x-watchdog-event'] ?? `${delivery.method} without an event`,
    attempt: delivery.headers['x-watchdog-attempt'],
    deliveryId: delivery.headers['x-watchdog-delivery'],
    answer: labelOf(delivery.answer),
    verdict: verdictOf(delivery),
  }
}

/** All signatures in one word. During a rotation of secrets some need not match. */
function verdictOf(delivery: ReceivedRequest) {
  if (delivery.verdicts === undefined) return { state: 'muted', text: '• not checked' }
  if (!Object.values(delivery.verdicts).some(({ ok }) => ok)) {
    return { state: 'critical', text: '✗ refused' }
  }
  return checksOf(delivery).some(({ state }) => state === 'critical')
    ? { state: 'warning', text: '▲ partly verified' }
    : { state: 'fine', text: '✓ verified' }
}

/** One line for each check of a customer. */
function checksOf({ verdicts, headers, hook }: ReceivedRequest): readonly SignatureCheck[] {
  if (verdicts === undefined) {
    return [{ state: 'muted', text: `Not checked: the hook “${hook}” has no secret` }]
  }
  const { watchdog, watchdogNext, standard } = verdicts
  const age = watchdog.ageSeconds ?? standard.ageSeconds
  return [
    checkOf('X-Watchdog-Signature', watchdog),
    ...('x-watchdog-signature-next' in headers
      ? [checkOf('X-Watchdog-Signature-Next', watchdogNext)]
      : []),
    checkOf('webhook-signature', standard),
    ...(age === undefined ? [] : [timestampCheck(age)]),
  ]
}

function checkOf(header: string, verdict: SignatureVerdict): SignatureCheck {
  return verdict.ok
    ? { state: 'fine', text: header }
    : { state: 'critical', text: `${header}: ${REASONS[verdict.reason]}` }
}

function timestampCheck(ageSeconds: number): SignatureCheck {
  const state = Math.abs(ageSeconds) > TOLERANCE_SECONDS ? 'critical' : 'fine'
  return { state, text: `timestamp ${Math.round(ageSeconds)} s` }
}

function labelOf(answer: HookAnswer): string {
  const chosen = [...ANSWERS].find(([, choice]) => choice === answer)?.[0]
  return chosen ?? (typeof answer === 'object' ? `${answer.status}` : `${answer}`)
}
