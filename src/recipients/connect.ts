/**
 * Linking that starts in the chat: the chat shows a link with a one-time code, the linked page signs a wallet in, and
 * the signed challenge links the chat. No token is created. A code has 128 random bits; only its hash is stored. The
 * chat and the page show the same four digits, so that a person can see whether the page belongs to their chat.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readMessage } from '#src/auth/message.ts'
import { type SignInDeps, signIn } from '#src/auth/service.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import { type LinkingDeps, linkChat } from './chats.ts'
import * as codes from './connect-store.ts'
import * as links from './link-store.ts'
import { LINK_MINUTES } from './model.ts'
import * as recipients from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

const CODE_BYTES = 16

/** NOTIFY channel of codes that were used or refused; the payload is the code's hash. */
export const CONNECTS_CHANNEL = codes.CONNECTS_CHANNEL

/** A private chat that requests a link, and its person. */
export interface ConnectingChat {
  readonly chat: {
    readonly id: number
    readonly title: string
    /** Username without `@`. */
    readonly username?: string
  }
  readonly by: { readonly id: number }
  readonly locale: Locale
  /** Whether it requests the right to spend credits. */
  readonly spend?: boolean
  /** The chat's selected wallet, for which it requests that right. */
  readonly wallet?: Address
  /** The chat's next step after linking, in its own format. */
  readonly goesOn?: string
}

/** A new code, to be shown in the chat. */
export interface ConnectCode {
  /** URL of the page. */
  readonly url: string
  /** Four digits, which the page shows, too. */
  readonly match: string
  readonly expiresAt: Date
  /** Identifies the code without revealing it. */
  readonly hash: string
}

/** Content of the page of a code. */
export interface ConnectOffer {
  readonly state: 'open' | 'linked' | 'refused'
  readonly title: string
  readonly username: string | undefined
  readonly locale: Locale
  /** Whether the chat requests the right to spend credits. */
  readonly spend: boolean
  /** Button data of the chat's next step after linking. */
  readonly goesOn: string | undefined
  readonly match: string
  readonly expiresAt: Date
  /** The linked wallet. */
  readonly wallet: Address | undefined
  /** Wallet of the chat, for which the right to spend is requested; undefined for a new chat. */
  readonly spendOf: Address | undefined
}

/** A used code, and the link that it created. */
export interface LinkedCode {
  /** Identifies the code without revealing it. */
  readonly hash: string
  readonly chatId: number
  /** Telegram account that asked for the code. */
  readonly by: number
  /** What the chat continues with, in its own format. */
  readonly goesOn: string | undefined
  readonly wallet: Address
}

/** Result of a claim. */
export interface ConnectResult {
  readonly wallet: Address
  readonly title: string
}

/** Creates a chat's code. The previous code becomes invalid. */
export async function createConnectCode(
  deps: Deps & { readonly publicUrl: string },
  { chat, by, locale, spend, wallet, goesOn }: ConnectingChat,
): Promise<ConnectCode> {
  const code = randomBytes(CODE_BYTES).toString('base64url')
  const hash = hashOf(code)
  const createdAt = deps.clock.now()
  const expiresAt = new Date(createdAt.getTime() + LINK_MINUTES * MINUTE_MS)
  await codes.putCode(deps.db, {
    chatId: chat.id,
    hash,
    askedBy: by.id,
    title: chat.title,
    username: chat.username ?? null,
    locale,
    spend: spend === true,
    spendOf: wallet ?? null,
    goesOn: goesOn ?? null,
    createdAt,
    expiresAt,
    usedAt: null,
    wallet: null,
  })
  const url = `${deps.publicUrl}/connect/${code}`
  return { url, match: matchOf(code), expiresAt, hash }
}

/**
 * Reads a code without using it.
 * @throws AppError not_found `link_not_valid` if the code is expired or used
 */
export async function peekConnectCode(deps: Deps, code: string): Promise<ConnectOffer> {
  const row = await codes.findCode(deps.db, hashOf(code))
  if (row === undefined || row.expiresAt <= deps.clock.now()) throw notValid()
  const { title, username, locale, spend, goesOn, expiresAt, usedAt, wallet } = row
  const linked = spend ? await links.listByChat(deps.db, row.chatId) : []
  // The wallet may have been unlinked meanwhile. A chat that named no wallet asks for its first one.
  const asked = linked.find((link) => row.spendOf === null || row.spendOf === link.wallet)
  const ended = wallet === null ? 'refused' : 'linked'
  return {
    state: usedAt === null ? 'open' : ended,
    title,
    username: username ?? undefined,
    locale,
    spend,
    goesOn: goesOn ?? undefined,
    match: matchOf(code),
    expiresAt,
    wallet: wallet ?? undefined,
    spendOf: asked?.wallet,
  }
}

/** Whether the chat of a code may already spend credits of a wallet. False for an invalid code. */
export async function maySpendAlready(
  { db }: Pick<Deps, 'db'>,
  { code, wallet }: { readonly code: string; readonly wallet: Address },
): Promise<boolean> {
  const row = await codes.findCode(db, hashOf(code))
  if (row === undefined) return false
  const linked = await recipients.findChat(db, wallet, row.chatId)
  return linked?.chatScopes?.includes('spend') === true
}

/**
 * Links the chat of a code to the wallet that signed; its scopes become the chat's. Using up the code and
 * the challenge and creating the recipient are one transaction. A chat that is already linked to this
 * wallet gets the new scopes. A repeated claim gets the result of the first.
 *
 * @throws the errors of `signIn`; AppError not_found `link_not_valid`; conflict `recipient_limit_reached`,
 * which leaves code and challenge unused
 */
export async function claimConnectCode(
  deps: SignInDeps & LinkingDeps,
  input: {
    readonly code: string
    readonly message: string
    readonly signature: string
    readonly timezone?: string
  },
): Promise<ConnectResult> {
  const { code, message, signature, timezone } = input
  const hash = hashOf(code)
  const codeRow = await codes.findCode(deps.db, hash)
  const now = deps.clock.now()
  if (codeRow === undefined || codeRow.expiresAt <= now) throw notValid()
  if (codeRow.usedAt !== null) return await repeated(codeRow, message)
  return await signIn(deps, { message, signature }, async (tx, { wallet, scopes }) => {
    const row = await codes.spendCode(tx, hash, { now, wallet })
    if (row === undefined) throw notValid()
    await linkChat(
      { ...deps, db: tx },
      {
        chat: { id: row.chatId, title: row.title },
        by: { id: row.askedBy },
        locale: row.locale,
        wallet,
        scopes,
        name: null,
        at: now,
        ...(timezone !== undefined && { timezone }),
      },
    )
    return { wallet, title: row.title }
  })
}

/** The result of the claim that used the code up, if this call repeats that claim. */
async function repeated(
  { wallet, title }: codes.ConnectCodeRow,
  message: string,
): Promise<ConnectResult> {
  if (wallet === null || (await readMessage(message))?.wallet !== wallet) throw notValid()
  return { wallet, title }
}

/** The link that a code created; undefined while the code is open, and if it is refused or unknown. */
export async function findLinkedCode(
  { db }: Pick<Deps, 'db'>,
  code: string,
): Promise<LinkedCode | undefined> {
  const row = await codes.findCode(db, hashOf(code))
  if (row === undefined || row.wallet === null) return undefined
  const { hash, chatId, askedBy: by, goesOn, wallet } = row
  return { hash, chatId, by, goesOn: goesOn ?? undefined, wallet }
}

/** Uses a code up without linking the chat, and notifies the chat. An expired or used code is ignored. */
export async function refuseConnectCode(deps: Deps, code: string): Promise<void> {
  const now = deps.clock.now()
  await transact(deps.db, (tx) => codes.spendCode(tx, hashOf(code), { now, wallet: null }))
}

/** How a code ended, and what its chat asked for. */
export interface ConnectOutcome {
  /** Identifies the code without revealing it. */
  readonly hash: string
  readonly chatId: number
  readonly by: number
  readonly locale: Locale
  /** A wallet signed, the reader refused, or the code expired; `open` while the code can still be used. */
  readonly end: 'open' | 'linked' | 'refused' | 'expired'
  /** Whether the chat requested the right to spend credits. */
  readonly spend: boolean
  /** What the chat continues with, in its own format. */
  readonly goesOn: string | undefined
  /** The linked wallet. */
  readonly wallet: Address | undefined
}

/** How a code ended; undefined if its chat has a newer code, and a day after its end. */
export async function findConnectOutcome(
  { db, clock }: Deps,
  hash: string,
): Promise<ConnectOutcome | undefined> {
  const row = await codes.findCode(db, hash)
  if (row === undefined) return undefined
  const { chatId, askedBy: by, locale, spend, goesOn, wallet } = row
  return {
    hash,
    chatId,
    by,
    locale,
    end: endOf(row, clock.now()),
    spend,
    goesOn: goesOn ?? undefined,
    wallet: wallet ?? undefined,
  }
}

function endOf(
  { usedAt, wallet, expiresAt }: codes.ConnectCodeRow,
  now: Date,
): ConnectOutcome['end'] {
  if (usedAt === null) return expiresAt <= now ? 'expired' : 'open'
  return wallet === null ? 'refused' : 'linked'
}

/** Deletes codes a day after they ended. */
export async function pruneConnectCodes(deps: Deps): Promise<void> {
  await codes.deleteExpiredConnectCodes(deps.db, new Date(deps.clock.now().getTime() - DAY_MS))
}

/** Scopes that a connect page requests. */
export function connectScopes(spend: boolean): readonly Scope[] {
  return spend ? ['write', 'spend'] : ['write']
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}

/** Four digits that identify a code, in two groups of two, as in `48 31`. */
function matchOf(code: string): string {
  const digest = createHash('sha256').update(`match ${code}`).digest()
  const digits = String(digest.readUInt32BE() % 10_000).padStart(4, '0')
  return `${digits.slice(0, 2)} ${digits.slice(2)}`
}

function notValid(): AppError {
  return new AppError('not_found', 'link_not_valid')
}
