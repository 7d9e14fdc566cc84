import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import postgres from 'postgres'

/**
 * The floor of `rest`: bare Fastify with the two indexed queries that an authenticated read of one watch needs. Run
 * as a process of its own: `rest-floor.ts <database url>`.
 */
const sql = postgres(process.argv[2] ?? '', { max: 10 })
const server = Fastify({ logger: false })

server.get<{ Params: { id: string } }>('/api/x402/watches/:id', async (request, reply) => {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  const hash = createHash('sha256').update(token).digest('hex')
  const [found] = await sql`select id, wallet, scopes, expires_at, revoked_at, last_used_at
    from tokens where hash = ${hash}`
  if (found === undefined) return reply.code(401).send()
  const [watch] = await sql`
    select w.*, t.target, t.observed_at, c.block_at, coalesce(t.no_data_since, c.failing_since),
      coalesce((select jsonb_agg(jsonb_build_object('id', s.signal, 'state', s.phase, 'since', s.since,
        'streak', s.streak, 'lastEvidenceAt', s.last_evidence_at))
        from signal_states s where s.watch_id = w.id), '[]'::jsonb) as states
    from watches w join targets t on t.id = w.target_id
      left join observation_cursors c on c.type = w.type
    where w.wallet = ${found['wallet']} and w.id = ${request.params.id}`
  return watch
})

const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
