import type { Address } from './units.ts'

/** What a token may do. `read` is always among a token's scopes. */
export const SCOPES = ['read', 'write', 'spend'] as const

export type Scope = (typeof SCOPES)[number]

/** The wallet and rights behind one request. */
export interface Caller {
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** Which front door the request came through. */
  readonly via: 'http' | 'telegram' | 'page'
  /** The API token's id, for requests over HTTP. */
  readonly tokenId?: number
  /** The person's Telegram account, for requests from a chat. */
  readonly telegramUserId?: number
}

/** The links that pages open by. Each kind allows the operations of that kind and nothing else. */
export const LINK_KINDS = ['confirm', 'unsubscribe', 'pay', 'alert', 'connect'] as const

export type LinkKind = (typeof LINK_KINDS)[number]

/** The right that a link of a kind has. */
export type LinkScope = `link:${LinkKind}`

/** A reader without a token, who holds a link. */
export interface LinkCaller {
  readonly link: LinkKind
  /** The secret part of the link, as sent; the verb judges it. */
  readonly code: string
}
