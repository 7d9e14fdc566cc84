import type { Address } from './units.ts'

/** Rights of a token. `read` is always among them. */
export const SCOPES = ['read', 'write', 'spend'] as const

export type Scope = (typeof SCOPES)[number]

/** Wallet and rights of one request. */
export interface Caller {
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** The front door that the request came through. */
  readonly via: 'http' | 'telegram' | 'page'
  /** The API token's id, for requests over HTTP. */
  readonly tokenId?: number
  /** The person's Telegram account, for requests from a chat. */
  readonly telegramUserId?: number
}

/** Kinds of links to pages. Each allows the operations of its kind and no others. */
export const LINK_KINDS = [
  'confirm',
  'unsubscribe',
  'pay',
  'alert',
  'connect',
  'tokens',
  'receiver',
] as const

export type LinkKind = (typeof LINK_KINDS)[number]

/** The right of a link of this kind. */
export type LinkScope = `link:${LinkKind}`

/** A reader without a token, authorized by a link. */
export interface LinkCaller {
  readonly link: LinkKind
  /** The secret part of the link, as sent; the operation's verb verifies it. */
  readonly code: string
}
