import { packed } from '#src/actions/codec.ts'
import { formatTime } from '#src/i18n/format.ts'
import { type TextKey, typed } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import type { TelegramLinkOffer } from '#src/recipients/model.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { act, menuButton, type Reader, screen, type View, wholeAddress } from '../../views/view.ts'

/** The chat of a link's card. */
export interface AskedChat {
  readonly title: string
  /** `@` and the username, if there is one. */
  readonly username: string | undefined
  readonly place: 'private' | 'group' | 'forum' | 'topic'
}

/** Shows the wallet of a link with the rights, and asks for consent. */
export function linkCard(
  reader: Reader,
  offer: TelegramLinkOffer,
  chat: AskedChat,
  code: string,
): View {
  const { t } = reader
  const isPrivate = chat.place === 'private'
  const name = chat.username === undefined ? chat.title : `${chat.title} (@${chat.username})`
  const lines = [
    `🔗 ${t.html('bot:link.title')}`,
    '',
    t.html('bot:link.wallet', { address: wholeAddress(offer.wallet) }),
    t.html(isPrivate ? 'bot:link.privateChat' : 'bot:link.group', { name: typed(name) }),
    chat.place === 'topic' ? t.html('bot:link.topic') : undefined,
    chat.place === 'forum' ? t.html('bot:link.general') : undefined,
    t.html('bot:link.allows', { rights: rightsText(reader, offer.scopes) }),
    madeBy(reader, offer),
    t.html('bot:link.validUntil', { time: timeOf(reader, offer, offer.expiresAt) }),
    ...(isPrivate ? [] : ['', t.html('bot:link.adminsOnly')]),
  ]
  return screen(lines, [
    [
      { label: t('bot:button.link'), data: packed('link.yes', { code }), style: 'primary' },
      { label: t('bot:button.cancel'), data: packed('link.no', { code }) },
    ],
  ])
}

function madeBy(reader: Reader, offer: TelegramLinkOffer): string {
  const time = timeOf(reader, offer, offer.createdAt)
  return offer.madeBy === null
    ? reader.t.html('bot:link.made', { time })
    : reader.t.html('bot:link.madeBy', { time, name: typed(offer.madeBy) })
}

/** A time in the zone that the chat will have, as alerts write it. */
function timeOf({ t }: Reader, { timezone }: TelegramLinkOffer, at: Date): string {
  return formatTime(at, t.locale, timezone, { offset: true })
}

/** The rights of a chat with these scopes, in words. In a group nobody can spend credits, and no text speaks of them. */
export function rightsText(
  { t, isGroup }: Pick<Reader, 't' | 'isGroup'>,
  scopes: readonly Scope[],
): string {
  const write = scopes.includes('write')
  const spend = scopes.includes('spend') && !isGroup
  const key: TextKey = write
    ? spend
      ? 'bot:rights.writeSpend'
      : 'bot:rights.write'
    : spend
      ? 'bot:rights.spend'
      : 'bot:rights.read'
  return t(key)
}

/** Screen for a used, expired or unknown link. */
export function linkInvalidScreen(reader: Reader, options: { readonly isLinked: boolean }): View {
  return screen([reader.t.html('bot:link.over')], waysOn(reader, options))
}

/** Screen after the chat refused to be linked. */
export function linkRefusedScreen(reader: Reader, options: { readonly isLinked: boolean }): View {
  return screen([reader.t.html('bot:link.refused')], waysOn(reader, options))
}

/** Buttons below an answer: the menu in a linked chat, *Connect* in a private chat without a link. */
function waysOn({ t, isGroup }: Reader, { isLinked }: { readonly isLinked: boolean }): Rows {
  if (isLinked) return [[menuButton(t)]]
  if (isGroup) return []
  const connect = packed('connect', { spend: false })
  return [[act(t('bot:button.connect'), connect, 'primary')], [menuButton(t)]]
}
