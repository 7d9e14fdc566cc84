import type { Sql } from 'postgres'
import type { MessageButton } from '#src/channels/envelope.ts'
import { transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { type LinkingDeps, linkChat } from '#src/recipients/chats.ts'
import { createRecipient } from '#src/recipients/service.ts'

/** The database and service of a test whose outbox is read. */
interface Notified {
  readonly app: LinkingDeps
  readonly sql: Sql
}

interface Owner {
  readonly caller: Caller
}

/** A notice in the outbox. */
export interface Notice {
  readonly recipientId: number
  readonly kind: string
  readonly title: string
  readonly body: string
  readonly status: string
  readonly severity: string
  readonly glyph: string
  readonly locale: string
  readonly buttons: readonly (readonly MessageButton[])[]
}

/** Every notice in the outbox, in the order it was written. */
export async function notices({ sql }: Notified): Promise<Notice[]> {
  return await sql<Notice[]>`
    select recipient_id as "recipientId", status, envelope->'message'->>'title' as title,
      replace(envelope->'message'->>'event', 'notice.', '') as kind,
      envelope->'message'->>'body' as body, envelope->'message'->>'severity' as severity,
      envelope->'data'->>'glyph' as glyph, envelope->>'locale' as locale,
      coalesce(envelope->'buttons', '[]') as buttons
    from deliveries where envelope->>'kind' = 'notice' order by created_at, recipient_id, id`
}

/** Kind and title of every notice. */
export async function titles(notified: Notified): Promise<string[]> {
  return (await notices(notified)).map(({ kind, title }) => `${kind}: ${title}`)
}

/** Links a chat to the wallet without its confirmation. @returns the recipient's id */
export async function chatOf(
  { app }: Notified,
  { caller }: Owner,
  over: { readonly id?: number; readonly locale?: Locale; readonly timezone?: string } = {},
): Promise<number> {
  const { id = 1001, locale = 'en', timezone } = over
  const link = {
    wallet: caller.wallet,
    scopes: ['read', 'write'],
    name: null,
    chat: { id, title: id < 0 ? 'Node crew' : 'Ann' },
    by: { id: Math.abs(id) },
    locale,
    at: app.clock.now(),
    ...(timezone !== undefined && { timezone }),
  } as const
  const { recipient } = await transact(app.db, (tx) => linkChat({ ...app, db: tx }, link))
  return recipient.id
}

/** Creates a confirmed default mailbox of the wallet. @returns the recipient's id */
export async function mailboxOf({ app, sql }: Notified, { caller }: Owner): Promise<number> {
  const input = {
    name: 'Ops',
    channel: 'email',
    address: 'ops@example.org',
    default: true,
  } as const
  const { id } = await createRecipient(app, caller, input)
  await sql`update recipients set status = 'active', verified_at = created_at where id = ${id}`
  return id
}
