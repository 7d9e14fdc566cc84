import Fastify from 'fastify'
import postgres from 'postgres'

/**
 * The floor of `metering`: bare Fastify and one statement per call that takes a credit and writes its
 * ledger entry; no token, no free calls. Run as a process of its own: `metering-floor.ts <database url>`.
 */
const sql = postgres(process.argv[2] ?? '', { max: 10 })
const server = Fastify({ logger: false })
let calls = 0

server.get('/metered', async (request, reply) => {
  const wallet = String(request.headers['x-wallet'])
  calls += 1
  const [entry] = await sql`
    with changed as (
      update accounts set balance_credits = balance_credits - 1, entry_count = entry_count + 1
      where wallet = ${wallet} and balance_credits >= 1
      returning wallet, balance_credits, entry_count
    )
    insert into ledger_entries (wallet, position, type, delta_credits, balance_after_credits,
      reference, note, created_at)
    select wallet, entry_count, 'usage', -1, balance_credits, ${`floor:${calls}`}, null, ${new Date()}
    from changed returning balance_after_credits`
  if (entry === undefined) return reply.code(402).send()
  reply.header('x-credits-balance', entry['balance_after_credits'])
  return { ok: true }
})

const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
