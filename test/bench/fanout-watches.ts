import type { Connection } from '#src/db/connection.ts'
import { LOCALES } from '#src/kernel/locale.ts'

const WATCHES_PER_WALLET = 20
const WINDOW_SECONDS = 3600

/**
 * Writes watches on one feed, twenty for each wallet. Every wallet has a webhook or a chat, in one of all languages.
 */
export async function fillFeedWatches({ sql }: Connection, count: number): Promise<void> {
  const wallets = Math.ceil(count / WATCHES_PER_WALLET)
  const target = { feed: 'FLR/USD' }
  const keySettings = { windowSeconds: WINDOW_SECONDS }
  const settings = { percent: 5, windowSeconds: WINDOW_SECONDS, direction: 'any' }
  await sql`insert into targets (type, key, target, key_settings, watch_count, must_judge)
    values ('feed-move', 'bench', ${sql.json(target)}, ${sql.json(keySettings)}, ${count}, true)`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select '0x' || lpad(to_hex(n % ${wallets}::int + 1), 40, '0'), 'feed-move', t.id, 'FLR/USD ' || n,
      ${sql.json(settings)}, '[]', 'info', 0, 'active', 1, now(), now()
    from targets t, generate_series(1, ${count}::int) n`
  await sql`insert into recipients (wallet, channel, own, destination, target, partition_key, locale, timezone,
      status, switched_at, min_severity, is_default, chat_id, created_at, updated_at)
    select '0x' || lpad(to_hex(n), 40, '0'), case n % 2 when 0 then 'webhook' else 'telegram' end,
      true, '', '', 'lane ' || n, (${sql.json([...LOCALES])}::jsonb) ->> (n % ${LOCALES.length}::int),
      'UTC', 'active', now(), 'info', true, case n % 2 when 1 then n end, now(), now()
    from generate_series(1, ${wallets}::int) n`
  await sql`analyze`
}
