import { makeSecret } from '#src/channels/hooks/webhook.ts'
import type { Connection } from '#src/db/connection.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'

/** A wallet with a webhook. */
export interface WalletWithHook {
  readonly wallet: Address
  readonly recipientId: number
  readonly partitionKey: string
}

/**
 * Writes wallets, each with a webhook at this address. The addresses are encrypted with the key of the test
 * environment.
 */
export async function fillHooks(
  { sql }: Connection,
  url: string,
  count: number,
): Promise<readonly WalletWithHook[]> {
  const box = createSecretBox(Buffer.alloc(32, 7))
  const destination = box.seal('destination', JSON.stringify({ url, secret: makeSecret() }))
  const partitionKey = new URL(url).host
  const rows = await sql<{ id: number; wallet: string }[]>`
    insert into recipients (wallet, channel, own, destination, target, partition_key, locale, timezone, status,
      switched_at, min_severity, is_default, created_at, updated_at)
    select '0x' || lpad(to_hex(n), 40, '0'), 'webhook', true, ${destination}, '', ${partitionKey}, 'en', 'UTC',
      'active', now(), 'info', true, now(), now()
    from generate_series(
      (select count(*) + 1 from recipients), (select count(*) + ${count}::int from recipients)) n
    returning id, wallet`
  return rows.map(({ id, wallet }) => ({
    wallet: storedAddress(wallet),
    recipientId: id,
    partitionKey,
  }))
}
