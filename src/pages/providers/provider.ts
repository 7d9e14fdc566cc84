import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '#src/kernel/errors.ts'
import { Address } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { findUsualAlerts, lookUpAddress } from '#src/operations/pages/look-ups.ts'
import type { AddressAnswer } from '#src/watches/look-up.ts'
import { choicesOf, sendPage, zoneOf } from '../layout.ts'
import { type FoundProvider, providerView, usualText } from './view.ts'

/** Path parameters of a provider's page and files. */
export interface ProviderRoute {
  readonly Params: { readonly address: string }
}

/** Lifetime of a page in public caches: less than a voting round of 90 seconds. */
const FRESH_SECONDS = 60
/** Seconds after which a chain that did not answer may be asked again. */
const RETRY_SECONDS = 10

/** `/providers/<address>`: a provider's rounds, registration, eligibility and rewards, for everybody. */
export function providerPage(server: FastifyInstance, app: App): void {
  server.get<ProviderRoute>('/providers/:address', async (request, reply) => {
    const answer = await answerOf(app, request)
    if (answer?.kind === 'unavailable') throw unavailable()
    if (answer?.kind !== 'provider') {
      return sendPage(app, request, reply, {
        view: 'notice',
        status: 404,
        isUncached: true,
        data: (t) => ({
          title: t('pages:provider.unknown.title'),
          text: t('pages:provider.unknown.text'),
        }),
      })
    }
    const { provider } = answer.view
    // Every address of a provider redirects to the page of its identity.
    if (request.params.address.toLowerCase() !== provider.toLowerCase()) {
      return reply.redirect(`/providers/${provider}${choicesOf(request)}`, 302)
    }
    const { output: usual } = await invoke(app, findUsualAlerts, undefined, {
      query: { provider },
      limitKey: request.clientNetwork,
    })
    return sendPage(app, request, reply, {
      view: 'provider',
      freshSeconds: FRESH_SECONDS,
      data: (t) => ({
        ...providerView(app, t, answer, zoneOf(request)),
        usual: usual && usualText(t, usual),
      }),
    })
  })
}

/**
 * The provider to which the address in the path belongs.
 *
 * @param round the voting round as of which it is shown, if that round is stored
 * @throws AppError not_found; upstream while the chain does not answer and nothing is stored; rate_limited
 */
export async function requireProvider(
  app: App,
  request: FastifyRequest<ProviderRoute>,
  round?: number,
): Promise<FoundProvider> {
  const answer = await answerOf(app, request, round)
  if (answer?.kind === 'unavailable') throw unavailable()
  if (answer?.kind !== 'provider') throw new AppError('not_found', 'not_found')
  return answer
}

/** The provider or account at the address; undefined for a text that is not an address. */
async function answerOf(
  app: App,
  request: FastifyRequest<ProviderRoute>,
  round?: number,
): Promise<AddressAnswer | undefined> {
  const address = Address.safeParse(request.params.address)
  if (!address.success) return undefined
  const { output } = await invoke(app, lookUpAddress, undefined, {
    query: { address: address.data, ...(round !== undefined && { round }) },
    limitKey: request.clientNetwork,
  })
  return output
}

function unavailable(): AppError {
  return new AppError('upstream', 'dependency_unavailable', { retryAfterSeconds: RETRY_SECONDS })
}
