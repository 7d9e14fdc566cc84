import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '#src/kernel/caller.ts'
import { RATE_CLASSES, type RateCount } from '#src/operations/gate/limits.ts'

/** Key of a request's rate limit: its token, or the client's network if there is no token. */
export function limitKeyOf(request: FastifyRequest, caller: Caller | undefined): string {
  return caller?.tokenId === undefined ? request.clientNetwork : `token ${caller.tokenId}`
}

/**
 * Sets the headers of a rate limit.
 * @see draft-ietf-httpapi-ratelimit-headers
 */
export function writeRateHeaders(
  reply: FastifyReply,
  { rate, remaining, resetMs }: RateCount,
): void {
  const { requests, seconds } = RATE_CLASSES[rate]
  reply.header('ratelimit-policy', `"${rate}";q=${requests};w=${seconds}`)
  reply.header('ratelimit', `"${rate}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
}
