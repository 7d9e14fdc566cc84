import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PROOF_HEADER, RECEIVER_PATH } from '#src/channels/hooks/receiver-proof.ts'
import { RECEIVED_MAX, type TestReceiver } from '#src/delivery/receiver/model.ts'
import { formatDateTime, formatTime } from '#src/i18n/format.ts'
import { withoutIsolates } from '#src/i18n/isolates.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { getReceiver, receiveDelivery } from '#src/operations/pages/links.ts'
import { openReceiver } from '#src/operations/pages/receiver.ts'
import { chainParams } from '../chain-params.ts'
import { choicesOf, sendPage, zoneOf } from '../layout.ts'
import { askerByLink, type LinkRoute } from '../link.ts'
import { walletApps } from '../wallet-apps.ts'

/** Maximum size of a delivery; the largest ones of this service have a few kilobytes. */
const BODY_BYTES_MAX = 64 * 1024

/**
 * `/receiver`: a page with an address of its own that shows the webhooks of this service that are posted to it. The
 * address of the page is that of the webhook. Signatures are checked by the page's script, so that the service never
 * gets a signing secret. What is posted is no form, so its route has a parser of its own.
 */
export function receiverPage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'receiver')

  server.get(RECEIVER_PATH, async (request, reply) => {
    const limitKey = request.clientNetwork
    const { output: code } = await invoke(app, openReceiver, undefined, { limitKey })
    reply.header('cache-control', 'no-store')
    return reply.redirect(`${RECEIVER_PATH}/${code}${choicesOf(request)}`, 303)
  })

  server.get<LinkRoute>(`${RECEIVER_PATH}/:code`, async (request, reply) => {
    const receiver = await ask(request, getReceiver)
    return send(app, request, reply, receiver)
  })

  server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const parser = { parseAs: 'string', bodyLimit: BODY_BYTES_MAX } as const
    const parse = async (_request: FastifyRequest, text: string) => text
    scope.addContentTypeParser('application/json', parser, parse)
    scope.post<LinkRoute>(`${RECEIVER_PATH}/:code`, (request, reply) => take(app, request, reply))
  })
}

/** Takes a delivery. 410 tells the sender that the address is over. */
async function take(
  app: App,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { code } = request.params
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([, value]) => typeof value === 'string'),
  )
  const { [PROOF_HEADER.toLowerCase()]: proof = '', ...shown } = headers
  const body = { headers: shown, proof, body: typeof request.body === 'string' ? request.body : '' }
  const caller = { link: 'receiver', code } as const
  const { output } = await invoke(app, receiveDelivery, caller, { body, limitKey: code })
  return reply.code(output ? 204 : 410).send()
}

function send(
  app: App,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
  receiver: TestReceiver,
): FastifyReply {
  const address = `${app.publicUrl}${RECEIVER_PATH}/${request.params.code}`
  const zone = zoneOf(request)
  // The address is a secret, and what arrives is for nobody else.
  reply.header('x-robots-tag', 'noindex')
  return sendPage(app, request, reply, {
    view: 'receiver',
    isUncached: true,
    data: (t) => ({
      title: t('pages:receiver.title'),
      address,
      // A label takes no signs of direction.
      name: withoutIsolates(t('pages:receiver.name')),
      about: t('pages:receiver.address.about', {
        until: formatTime(receiver.expiresAt, t.locale, zone, { offset: true }),
        kept: RECEIVED_MAX,
      }),
      byHand: t('pages:receiver.hand.text', {
        recipients: t('bot:button.recipients'),
        add: t('bot:button.addRecipient'),
        channel: t('bot:button.add.webhook'),
        test: t('bot:button.test'),
      }),
      isOver: receiver.isOver,
      received: receiver.received.map((row) => receivedView(t, row, zone)),
      apps: walletApps(address),
      chain: JSON.stringify(chainParams()),
    }),
  })
}

function receivedView(
  t: Translate,
  { id, receivedAt, headers, body }: TestReceiver['received'][number],
  zone: string,
) {
  const headerOf = (wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? ''
  const signatures = ['X-Watchdog-Signature', 'X-Watchdog-Signature-Next'].map(headerOf)
  return {
    id,
    at: formatDateTime(receivedAt, t.locale, zone),
    event: headerOf('X-Watchdog-Event'),
    timestamp: headerOf('X-Watchdog-Timestamp'),
    signatures: signatures.filter((signature) => signature !== '').join(' '),
    facts: headers.map(([label, value]) => ({ label, value })),
    body,
    shownBody: indented(body),
  }
}

/** JSON with indentation; another text as it is. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}
