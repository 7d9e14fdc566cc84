import { servedChain } from '#src/kernel/chains.ts'
import type * as operations from '../rest/auth.ts'
import type { ExamplesOf } from './define.ts'
import { at, READ_AT, SCOPES, TOKEN, TOKEN_ID, TOKEN_PREFIX, WALLET } from './story.ts'

const LABEL = 'deploy script'
const NONCE = 'b1f06c4dd2a94be7305d7a8c61e2f943'
const ISSUED_AT = at('08:30:00')
const EXPIRES_AT = '2026-12-20T08:30:12.000Z'
/** A signature of the right length that no key can create. */
const SIGNATURE = `0x${'00'.repeat(64)}1b`

/** Sign-in. The message contains the service's URL. */
export function authExamples(publicUrl: string): ExamplesOf<typeof operations> {
  const message = signInText(publicUrl)
  return {
    createChallenge: {
      request: { wallet: WALLET, scopes: ['write', 'spend'], label: LABEL },
      response: { wallet: WALLET, nonce: NONCE, issuedAt: ISSUED_AT, message },
    },
    exchangeToken: {
      request: { message, signature: SIGNATURE },
      response: { token: TOKEN, wallet: WALLET, scopes: SCOPES, expiresAt: EXPIRES_AT },
    },
    listTokens: {
      response: {
        data: [
          {
            id: TOKEN_ID,
            label: LABEL,
            scopes: SCOPES,
            prefix: TOKEN_PREFIX,
            status: 'active',
            createdAt: at('08:30:12'),
            expiresAt: EXPIRES_AT,
            lastUsedAt: READ_AT,
            revokedAt: null,
          },
        ],
        nextCursor: null,
      },
    },
  }
}

/**
 * The message that `writeMessage` writes for this story. It stands here as text, so that a description of the
 * API does not load the package that writes messages.
 */
function signInText(publicUrl: string): string {
  return `${new URL(publicUrl).host} wants you to sign in with your Ethereum account:
${WALLET}

Sign in to Watchdog with these permissions: read, write, spend. This signature costs nothing and moves no funds.

URI: ${publicUrl}
Version: 1
Chain ID: ${servedChain().id}
Nonce: ${NONCE}
Issued At: ${ISSUED_AT}
Expiration Time: ${at('08:35:00')}
Resources:
- urn:flare-watchdog:scope:read
- urn:flare-watchdog:scope:write
- urn:flare-watchdog:scope:spend`
}
