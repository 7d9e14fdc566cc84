/**
 * Linking a chat by a page that signs in with a wallet: operations without a route, for the bot and for
 * that page.
 */
import { z } from 'zod'
import { TokenRequest } from '#src/auth/model.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import * as connect from '#src/recipients/connect.ts'
import { TimeZone } from '#src/recipients/model.ts'
import { LinkCode } from './chat.ts'
import { defineChatOperation } from './define.ts'

const CodeBody = z.strictObject({ code: LinkCode })

/** Makes a private chat's code for the connect page. */
export const createConnectCode = defineChatOperation({
  id: 'createConnectCode',
  scope: 'none',
  body: z.strictObject({
    chat: z.strictObject({
      id: z.int(),
      title: z.string(),
      username: z.string().exactOptional(),
    }),
    by: z.strictObject({ id: z.int() }),
    locale: z.enum(LOCALES),
    spend: z.boolean().exactOptional(),
    goesOn: z.string().exactOptional(),
  }),
  handle: ({ app, body }) => connect.createConnectCode(app, body),
})

/** What a code is for. Nothing is spent. */
export const peekConnectCode = defineChatOperation({
  id: 'peekConnectCode',
  scope: 'none',
  body: CodeBody,
  handle: ({ app, body }) => connect.peekConnectCode(app, body.code),
})

/** Links a code's chat: the signed challenge is the wallet's consent, its scopes are the chat's. */
export const claimConnectCode = defineChatOperation({
  id: 'claimConnectCode',
  scope: 'none',
  rate: 'token',
  body: z.strictObject({
    code: LinkCode,
    ...TokenRequest.shape,
    timezone: TimeZone.exactOptional(),
  }),
  handle: ({ app, body }) => connect.claimConnectCode(app, body),
})

/** Uses a code up without linking anything. */
export const refuseConnectCode = defineChatOperation({
  id: 'refuseConnectCode',
  scope: 'none',
  body: CodeBody,
  handle: ({ app, body }) => connect.refuseConnectCode(app, body.code),
})
