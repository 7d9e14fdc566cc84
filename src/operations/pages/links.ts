/**
 * Operations of the pages that a link opens, by kind of link. The caller carries the link's code. Each operation
 * refuses callers of every other kind. When no row belongs to the code, an operation returns undefined or throws
 * not_found, as its verb does.
 */
import { z } from 'zod'
import { ALERT_LINK_ACTIONS, performLinkAction } from '#src/alerts/acknowledge/link-actions.ts'
import { readLinkedEvidence } from '#src/alerts/evidence/evidence.ts'
import { isAlertLink, readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { confirmMailbox } from '#src/alerts/messages/test-send.ts'
import { ChallengeRequest, TokenRequest } from '#src/auth/model.ts'
import { createChallenge, listTokens, revokeToken } from '#src/auth/service.ts'
import { readTokensLink } from '#src/auth/tokens-link.ts'
import { ConfirmTopup } from '#src/billing/topups/model.ts'
import * as payment from '#src/billing/topups/service.ts'
import * as receiver from '#src/delivery/receiver/receiver.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { Id } from '#src/kernel/units.ts'
import * as connect from '#src/recipients/connect.ts'
import * as consent from '#src/recipients/consent.ts'
import { TimeZone } from '#src/recipients/model.ts'
import { getPastProvider, getProviderView } from '#src/watches/provider-view.ts'
import { undefinedIfUnavailable } from '#src/watches/unavailable.ts'
import { defineLinkOperation } from '../define.ts'
import { draftConnectPurchase } from './connect-purchase.ts'

/** Number of voting rounds of a provider on an alert's page. */
const ROUNDS = 20

/** Reads the request for consent. */
export const getConsent = defineLinkOperation({
  id: 'getConsent',
  scope: 'link:confirm',
  handle: ({ app, caller }) => consent.findConsent(app, caller.code),
})

/** Confirms or refuses e-mails to a mailbox. The first confirmation sends a test e-mail. */
export const answerConsent = defineLinkOperation({
  id: 'answerConsent',
  scope: 'link:confirm',
  body: z.strictObject({ agrees: z.boolean() }),
  handle: ({ app, caller: { code }, body }) =>
    body.agrees ? confirmMailbox(app, code) : consent.refuseEmail(app, code),
})

/** Reads which e-mails the mailbox gets. */
export const getMail = defineLinkOperation({
  id: 'getMail',
  scope: 'link:unsubscribe',
  handle: ({ app, caller }) => consent.findSubscription(app, caller.code),
})

/** Stops all e-mails, starts them again, or limits them to a minimum severity. */
export const changeMail = defineLinkOperation({
  id: 'changeMail',
  scope: 'link:unsubscribe',
  body: z.union([
    z.strictObject({ isOn: z.boolean() }),
    z.strictObject({ minSeverity: z.enum(SEVERITIES) }),
  ]),
  handle: ({ app, caller: { code }, body }) => {
    if ('minSeverity' in body) return consent.limitMailSeverity(app, code, body.minSeverity)
    return body.isOn ? consent.resubscribe(app, code) : consent.unsubscribe(app, code)
  },
})

/** Reads a top-up and the availability of its asset. @throws AppError not_found `not_found` */
export const getLinkedTopup = defineLinkOperation({
  id: 'getLinkedTopup',
  scope: 'link:pay',
  rate: 'status',
  handle: ({ app, caller, locale }) => payment.getLinkedTopup(app, { ...caller, locale }),
})

/** Reads the data of the pay page. */
export const getPaymentPage = defineLinkOperation({
  id: 'getPaymentPage',
  scope: 'link:pay',
  handle: ({ app, caller, locale }) => payment.readPaymentPage(app, { ...caller, locale }),
})

/**
 * Submits a transaction that pays the top-up. Any holder of the link may do so, because payments are public
 * on the chain.
 */
export const confirmLinkedTopup = defineLinkOperation({
  id: 'confirmLinkedTopup',
  scope: 'link:pay',
  rate: 'payment',
  body: ConfirmTopup,
  handle: ({ app, caller, body, locale }) =>
    payment.confirmLinkedTopup(app, { ...caller, ...body, locale }),
})

/** Renews an expired quote, optionally for another asset. */
export const renewLinkedTopup = defineLinkOperation({
  id: 'renewLinkedTopup',
  scope: 'link:pay',
  rate: 'quote',
  body: z.strictObject({ asset: z.string().exactOptional() }),
  handle: ({ app, caller, body, locale }) =>
    payment.renewLinkedTopup(app, { ...caller, ...body, locale }),
})

/**
 * Reads an alert and the rounds of its provider: the newest, or those up to the end of an alert that is over. If there
 * is no alert, `isDeleted` says whether this service signed the link.
 */
export const getLinkedAlert = defineLinkOperation({
  id: 'getLinkedAlert',
  scope: 'link:alert',
  rate: 'public',
  query: z.strictObject({ locale: z.enum(LOCALES).exactOptional() }),
  handle: async ({ app, caller: { code }, query }) => {
    const page = await readLinkedAlertPage(app, code, query.locale)
    if (page === undefined) return { page, isDeleted: isAlertLink(app.box, code) }
    const { provider } = page
    if (provider === null) return { page }
    const until = page.endedAt
    const providerQuery = { provider, rounds: ROUNDS }
    const view = await undefinedIfUnavailable(() =>
      until === null
        ? getProviderView(app, providerQuery)
        : getPastProvider(app, { ...providerQuery, until }),
    )
    return { page, provider: view }
  },
})

/** Reads the evidence of the alert, which anybody can check on the chain. */
export const getLinkedEvidence = defineLinkOperation({
  id: 'getLinkedEvidence',
  scope: 'link:alert',
  rate: 'preview',
  query: z.strictObject({ locale: z.enum(LOCALES).exactOptional() }),
  handle: ({ app, caller: { code }, query }) => readLinkedEvidence(app, code, query.locale),
})

/** Runs an action of ALERT_LINK_ACTIONS, if the link is personal. Without `act` only the link is checked. */
export const actOnLinkedAlert = defineLinkOperation({
  id: 'actOnLinkedAlert',
  scope: 'link:alert',
  rate: 'act',
  body: z.strictObject({ act: z.enum(ALERT_LINK_ACTIONS).optional() }),
  handle: ({ app, caller, body }) => performLinkAction(app, caller.code, body.act),
})

/** Reads the chat and rights of a connect code. The code stays valid. */
export const peekConnectCode = defineLinkOperation({
  id: 'peekConnectCode',
  scope: 'link:connect',
  handle: ({ app, caller }) => connect.peekConnectCode(app, caller.code),
})

/**
 * Creates the challenge for the given wallet, with the scopes that a chat gets. `maySpend` in the result: whether the
 * chat may already spend this wallet's credits.
 */
export const createConnectChallenge = defineLinkOperation({
  id: 'createConnectChallenge',
  scope: 'link:connect',
  rate: 'challenge',
  body: z.strictObject({ wallet: ChallengeRequest.shape.wallet, spend: z.boolean() }),
  handle: async ({ app, caller, body: { wallet, spend } }) => {
    const { code } = caller
    await connect.peekConnectCode(app, code)
    const scopes = [...connect.connectScopes(spend)]
    const [challenge, maySpend] = await Promise.all([
      createChallenge(app, { wallet, scopes }),
      connect.maySpendAlready(app, { code, wallet }),
    ])
    return { ...challenge, maySpend }
  },
})

/** Links the code's chat to the wallet that signed the challenge, with the scopes of the challenge. */
export const claimConnectCode = defineLinkOperation({
  id: 'claimConnectCode',
  scope: 'link:connect',
  rate: 'token',
  body: z.strictObject({ ...TokenRequest.shape, timezone: TimeZone.exactOptional() }),
  handle: ({ app, caller: { code }, body }) => connect.claimConnectCode(app, { code, ...body }),
})

/**
 * Creates the top-up that the chat requested before it was linked. Returns its handle; undefined if the chat requested
 * none.
 */
export const draftLinkedPurchase = defineLinkOperation({
  id: 'draftLinkedPurchase',
  scope: 'link:connect',
  handle: async ({ app, caller }) => {
    const linked = await connect.findLinkedCode(app, caller.code)
    return linked === undefined ? undefined : await draftConnectPurchase(app, linked)
  },
})

/** Uses the code up without linking the chat. */
export const refuseConnectCode = defineLinkOperation({
  id: 'refuseConnectCode',
  scope: 'link:connect',
  handle: ({ app, caller }) => connect.refuseConnectCode(app, caller.code),
})

/** The tokens of the wallet that signed in on the page, and whether the page may revoke them. */
export const listTokensOnPage = defineLinkOperation({
  id: 'listTokensOnPage',
  scope: 'link:tokens',
  rate: 'read',
  handle: async ({ app, caller }) => {
    const { wallet, scopes } = readTokensLink(app, caller.code)
    const { data } = await listTokens(app, { wallet, scopes, via: 'page' })
    return { wallet, tokens: data, mayRevoke: scopes.includes('write') }
  },
})

/** Revokes a token of the wallet that signed in on the page. */
export const revokeTokenOnPage = defineLinkOperation({
  id: 'revokeTokenOnPage',
  scope: 'link:tokens',
  rate: 'write',
  body: z.strictObject({ id: z.coerce.number().pipe(Id) }),
  handle: async ({ app, caller, body }) => {
    const { wallet, scopes } = readTokensLink(app, caller.code)
    if (!scopes.includes('write')) {
      const scope = 'write'
      throw new AppError('forbidden', 'insufficient_scope', {
        values: { scope },
        members: { scope },
      })
    }
    await revokeToken(app, { wallet, scopes, via: 'page' }, body)
  },
})

/** Reads what arrived at a test receiver. */
export const getReceiver = defineLinkOperation({
  id: 'getReceiver',
  scope: 'link:receiver',
  rate: 'read',
  handle: ({ app, caller }) => receiver.readReceiver(app, caller.code),
})

/** Takes a delivery of this service. Returns whether the receiver is still there. */
export const receiveDelivery = defineLinkOperation({
  id: 'receiveDelivery',
  scope: 'link:receiver',
  rate: 'receive',
  body: z.strictObject({
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    proof: z.string(),
  }),
  handle: ({ app, caller, body }) => receiver.receiveDelivery(app, caller.code, body),
})
