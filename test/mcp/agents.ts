/** Agents of tests: clients of the official SDK, over HTTP. */
import {
  Client,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { z } from 'zod'

/** What a person answers to a question. */
type Person = (question: string) => ElicitResult

/** Creates clients of the service at `url`; `close` closes all of them. */
export function createAgents(url: URL) {
  const open: Client[] = []
  return {
    async connect(token?: string, headers: Record<string, string> = {}): Promise<Client> {
      const client = new Client({ name: 'test', version: '1' })
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const requestInit = { headers: { ...authorization, ...headers } }
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      open.push(client)
      return client
    },
    /** A client of the newest revision that asks its person with forms; `person` answers. */
    async connectAsking(token: string, person: Person): Promise<Client> {
      const client = new Client(
        { name: 'asking', version: '1' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
      )
      client.setRequestHandler('elicitation/create', ({ params }) => person(params.message))
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      open.push(client)
      return client
    },
    async close(): Promise<void> {
      await Promise.all(open.map((client) => client.close()))
    },
  }
}

const Content = z.tuple([z.object({ type: z.literal('text'), text: z.string() })])
const Anything = z.record(z.string(), z.any())

/** Calls a tool and parses its answer. */
export async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: input })
  return { isError, body: Anything.parse(JSON.parse(Content.parse(content)[0].text)) }
}

/** Calls a tool, and again with the confirmation of the first answer. */
export async function confirm(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { body } = await call(client, name, input)
  const confirmed = { ...input, confirmation: body['confirmation'] }
  return { ...(await call(client, name, confirmed)), asked: body, confirmed }
}
