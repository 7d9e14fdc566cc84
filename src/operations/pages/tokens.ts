/** Operations of the page that creates API tokens, for a reader who has not signed in yet. */
import { TokenRequest } from '#src/auth/model.ts'
import * as auth from '#src/auth/service.ts'
import { signTokensLink } from '#src/auth/tokens-link.ts'
import { defineChatOperation } from '../define.ts'

/** Exchanges a signed challenge for a token. `code` opens the tokens of the wallet for the page. */
export const createTokenOnPage = defineChatOperation({
  id: 'createTokenOnPage',
  scope: 'none',
  rate: 'token',
  body: TokenRequest,
  handle: async ({ app, body }) => {
    const issued = await auth.exchangeToken(app, body)
    return { issued, code: signTokensLink(app, issued) }
  },
})

/** Opens the tokens of the wallet that signed, without a new one. */
export const openTokensOnPage = defineChatOperation({
  id: 'openTokensOnPage',
  scope: 'none',
  rate: 'token',
  body: TokenRequest,
  handle: async ({ app, body }) => ({
    issued: undefined,
    code: await auth.signIn(app, body, async (_tx, signed) => signTokensLink(app, signed)),
  }),
})
