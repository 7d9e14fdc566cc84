/** Operations of the authorization server, for programs that a person adds by an address: they need no token yet. */
import { z } from 'zod'
import { IssuedToken, TokenRequest } from '#src/auth/model.ts'
import * as oauth from '#src/auth/oauth.ts'
import * as auth from '#src/auth/service.ts'
import { SCOPES } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { defineChatOperation } from '../define.ts'

/** Registers a client: returns the id that has its registration. */
export const registerClient = defineChatOperation({
  id: 'registerClient',
  scope: 'none',
  rate: 'public',
  body: oauth.Registration,
  handle: async ({ app, body }) => ({ ...body, client_id: oauth.signClient(app, body) }),
})

/**
 * Accepts a signed challenge for a client, and returns its code. The challenge has the scopes and the label that the page
 * of this client wrote, so that what was signed for another client or page gives no code.
 */
export const authorizeClient = defineChatOperation({
  id: 'authorizeClient',
  scope: 'none',
  // Counted also if it succeeds: the challenge stays unused, so that the chain could be asked about one signature on and on.
  // A wrong signature uses the challenge up, and challenges are few.
  rate: 'preview',
  body: TokenRequest.extend({
    clientId: z.string(),
    redirectUri: z.string(),
    codeChallenge: oauth.CodeChallenge,
    scopes: z.array(z.enum(SCOPES)),
  }),
  handle: async ({ app, body: { message, signature, scopes, ...request } }) => {
    const client = oauth.readClient(app, request.clientId)
    if (client === undefined || !oauth.mayReturnTo(client, request.redirectUri)) {
      throw new AppError('not_found', 'link_not_valid')
    }
    const signed = await auth.acceptSigned(app, { message, signature })
    const isMore = signed.scopes.some((scope) => scope !== 'read' && !scopes.includes(scope))
    if (isMore || signed.label !== oauth.clientLabel(request.redirectUri)) {
      throw new AppError('unauthenticated', 'message_mismatch')
    }
    return { code: oauth.signCode(app, signed.nonce, request) }
  },
})

/** Exchanges a code for a token. */
export const exchangeCode = defineChatOperation({
  id: 'exchangeCode',
  scope: 'none',
  rate: 'public',
  body: z.object({
    code: z.string(),
    client_id: z.string(),
    redirect_uri: z.string(),
    code_verifier: z.string(),
  }),
  output: IssuedToken,
  handle: async ({ app, body }) => {
    const request = {
      clientId: body.client_id,
      redirectUri: body.redirect_uri,
      verifier: body.code_verifier,
    }
    const nonce = oauth.readCode(app, body.code, request)
    if (nonce === undefined) throw new AppError('unauthenticated', 'message_mismatch')
    return await auth.exchangeAccepted(app, nonce)
  },
})
