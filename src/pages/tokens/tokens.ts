import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { IssuedToken, TokenMetadata } from '#src/auth/model.ts'
import { formatDate, formatDateTime, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import type { App, OperationWith } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { listTokensOnPage, revokeTokenOnPage } from '#src/operations/pages/links.ts'
import { createTokenOnPage, openTokensOnPage } from '#src/operations/pages/tokens.ts'
import { createChallenge } from '#src/operations/rest/auth.ts'
import { chainParams } from '../chain-params.ts'
import { formOf } from '../form.ts'
import { choicesOf, localeOf, sendPage, zoneOf } from '../layout.ts'
import { linkPreview } from '../link-preview.ts'
import { qrImage } from '../qr.ts'
import { answerScript, isScript, type RefusalView, refusalOf } from '../refusal-page.ts'
import { walletApps } from '../wallet-apps.ts'

/** What the reader chose: a new token, or only the list of the tokens. */
interface Choice {
  readonly intent: 'create' | 'list'
  readonly wallet: string
  readonly label: string
  readonly write: boolean
  readonly spend: boolean
}

/** Content of the page beside the form. */
interface Shown {
  readonly choice: Choice
  /** The text to sign in another program, and a signature of it that could not be checked yet. */
  readonly message?: string | undefined
  readonly signature?: string | undefined
  readonly refusal?: RefusalView | undefined
  /** The new token: this answer alone contains it. */
  readonly issued?: IssuedToken | undefined
  readonly opened?: OpenedTokens | undefined
  /** Prefix of the token that was just revoked. */
  readonly revoked?: string | undefined
}

/** The tokens of the wallet that signed in. */
interface OpenedTokens {
  /** The page's right to them, for its forms only. */
  readonly code: string
  readonly wallet: Address
  readonly tokens: readonly TokenMetadata[]
  readonly mayRevoke: boolean
}

const EMPTY: Choice = { intent: 'create', wallet: '', label: '', write: true, spend: false }

/**
 * `/tokens`: creates an API token for a wallet that signs in, shows it once, lists the wallet's tokens and revokes
 * them. With a wallet in the browser a script lets it sign; otherwise the reader signs the text in another program
 * and pastes the signature. A token is in the answer to the form alone: never in an address, a cookie or a log.
 */
export function tokensPage(server: FastifyInstance, app: App): void {
  server.get('/tokens', (request, reply) => send(app, request, reply, { choice: EMPTY }))
  server.post('/tokens', async (request, reply) => {
    const choice = choiceOf(request)
    if (isScript(request)) {
      return await answerScript(request, reply, () => makeMessage(app, request, choice))
    }
    try {
      return await send(app, request, reply, { choice, ...(await answer(app, request, choice)) })
    } catch (error) {
      const refusal = refusalOf(error, localeOf(request))
      // A refused challenge is used up; a challenge that could not be checked is not.
      const isKept = ['dependency_unavailable', 'validation_failed'].includes(refusal.code)
      const { message, signature } = isKept ? signedOf(request) : {}
      return await send(app, request, reply, { choice, refusal, message, signature })
    }
  })
}

async function answer(
  app: App,
  request: FastifyRequest,
  choice: Choice,
): Promise<Omit<Shown, 'choice'>> {
  const form = formOf(request)
  switch (form.answer) {
    case 'claim': {
      const operation = choice.intent === 'create' ? createTokenOnPage : openTokensOnPage
      const { issued, code } = await ask<{ issued: IssuedToken | undefined; code: string }>(
        app,
        request,
        operation,
        { body: signedOf(request) },
      )
      return { issued, opened: await open(app, request, code) }
    }
    case 'revoke': {
      const code = textOf(form.code)
      await ask(app, request, revokeTokenOnPage, { code, body: { id: form.id } })
      const opened = await open(app, request, code)
      const revoked = opened.tokens.find((token) => String(token.id) === form.id)?.prefix
      return { opened, revoked }
    }
    default:
      return await makeMessage(app, request, choice)
  }
}

async function open(app: App, request: FastifyRequest, code: string): Promise<OpenedTokens> {
  return { code, ...(await ask(app, request, listTokensOnPage, { code })) }
}

/** Creates the challenge. The list alone needs the right to revoke, and no label. */
async function makeMessage(app: App, request: FastifyRequest, choice: Choice) {
  const { intent, wallet, label, write, spend } = choice
  const isNew = intent === 'create'
  const scopes = [
    'read',
    ...(write || !isNew ? ['write'] : []),
    ...(spend && isNew ? ['spend'] : []),
  ]
  const body = { wallet, scopes, ...(isNew && label !== '' && { label }) }
  const challenge = await ask(app, request, createChallenge, { body })
  return { message: challenge.message }
}

/** Invokes an operation as a reader, or with the page's right to the tokens. Limits count by the network. */
async function ask<Output>(
  app: App,
  request: FastifyRequest,
  operation: OperationWith<Output>,
  { code, body }: { readonly code?: string; readonly body?: unknown },
): Promise<Output> {
  const caller = code === undefined ? undefined : ({ link: 'tokens', code } as const)
  const raw = { body, locale: localeOf(request), limitKey: request.clientNetwork }
  return (await invoke(app, operation, caller, raw)).output
}

function choiceOf(request: FastifyRequest): Choice {
  const { intent, wallet, label, write, spend } = formOf(request)
  return {
    intent: intent === 'list' ? 'list' : 'create',
    wallet: textOf(wallet).trim(),
    label: textOf(label).trim(),
    write: write === 'on',
    spend: spend === 'on',
  }
}

function signedOf(request: FastifyRequest) {
  const { message, signature } = formOf(request)
  // Browsers send line ends as CR LF, whatever the text contains.
  return {
    message: textOf(message).replaceAll('\r\n', '\n'),
    signature: textOf(signature).trim(),
  }
}

function textOf(field: unknown): string {
  return typeof field === 'string' ? field : ''
}

async function send(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  shown: Shown,
): Promise<FastifyReply> {
  const { choice, refusal, issued, opened } = shown
  const address = `${app.publicUrl}/tokens`
  const qr = await qrImage(address)
  const zone = zoneOf(request)
  return sendPage(app, request, reply, {
    view: 'tokens',
    status: refusal === undefined ? 200 : 422,
    isUncached: true,
    data: (t) => ({
      title: t('pages:tokens.title'),
      share: linkPreview(app, t, { path: '/tokens', description: t('pages:tokens.lead') }),
      choice,
      elsewhere: { message: shown.message, signature: shown.signature },
      refusal,
      revokedText: shown.revoked && t('pages:tokens.revoked', { prefix: id(shown.revoked) }),
      issued: issued && {
        token: issued.token,
        until: t('pages:tokens.made.until', { date: formatDate(issued.expiresAt, t.locale, zone) }),
      },
      opened: opened && openedView(t, opened, zone),
      isBilled: app.billing.enabled,
      apps: walletApps(address),
      address,
      qr,
      chain: JSON.stringify(chainParams()),
      script: '/scripts/tokens.js',
      signAction: `/tokens${choicesOf(request)}`,
    }),
  })
}

function openedView(t: Translate, { code, wallet, tokens, mayRevoke }: OpenedTokens, zone: string) {
  return {
    code,
    mayRevoke,
    title: t('pages:tokens.list', { wallet: id(shortAddress(wallet)) }),
    rows: tokens.map((token) => ({
      id: token.id,
      name: token.label ?? t('pages:tokens.unnamed'),
      prefix: token.prefix,
      isActive: token.status === 'active',
      facts: [
        { label: t('pages:tokens.status'), value: t(`pages:tokens.status.${token.status}`) },
        { label: t('pages:tokens.scopes'), value: token.scopes.join(', ') },
        {
          label: t('pages:tokens.created'),
          value: formatDateTime(token.createdAt, t.locale, zone),
        },
        {
          label: t('pages:tokens.end'),
          value: formatDateTime(token.revokedAt ?? token.expiresAt, t.locale, zone),
        },
        {
          label: t('pages:tokens.lastUsed'),
          value:
            token.lastUsedAt === null
              ? t('pages:tokens.neverUsed')
              : formatDateTime(token.lastUsedAt, t.locale, zone),
        },
      ],
    })),
  }
}
