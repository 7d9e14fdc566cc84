/** Documents by which programs find the door of agents, and learn how to sign in. */
import type { FastifyInstance } from 'fastify'
import { translator } from '#src/i18n/translate.ts'
import { SCOPES } from '#src/kernel/caller.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { VERSION } from '#src/kernel/release.ts'
import type { App } from '#src/operations/define.ts'
import { briefText } from './brief-schema.ts'

/** Metadata of `/mcp` as a protected resource; refusals without a token name it. @see RFC 9728 */
export const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
const SCHEMAS = 'https://static.modelcontextprotocol.io/schemas'
/** Longest description in the registry of servers. */
const DESCRIPTION_LENGTH_MAX = 100

/** Adds the documents: public, the same for everybody. */
export function registerDiscovery(server: FastifyInstance, app: App): void {
  const { publicUrl } = app
  const documents: Readonly<Record<string, object>> = {
    [RESOURCE_PATH]: protectedResource(publicUrl),
    [`${RESOURCE_PATH}/mcp`]: protectedResource(publicUrl),
    '/mcp/server-card': describe(publicUrl, 'v1/server-card.schema.json'),
    '/.well-known/mcp/server-card.json': describe(publicUrl, 'v1/server-card.schema.json'),
    '/.well-known/mcp/server.json': describe(publicUrl, '2025-12-11/server.schema.json'),
  }
  for (const [path, document] of Object.entries(documents)) {
    server.get(path, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=3600').send(document),
    )
  }
}

function protectedResource(publicUrl: string): object {
  return {
    resource: `${publicUrl}/mcp`,
    authorization_servers: [publicUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Watchdog',
    resource_documentation: `${publicUrl}/docs`,
  }
}

/** The card of the server, which has the form of its entry in the registry. */
function describe(publicUrl: string, schema: string): object {
  const t = translator('en')
  return {
    $schema: `${SCHEMAS}/${schema}`,
    name: `${new URL(publicUrl).hostname.split('.').toReversed().join('.')}/flare-watchdog`,
    title: `Watchdog for ${servedChain().name}`,
    description: briefText(t('pages:home.lead'), DESCRIPTION_LENGTH_MAX),
    version: VERSION,
    websiteUrl: publicUrl,
    remotes: [{ type: 'streamable-http', url: `${publicUrl}/mcp` }],
  }
}
