import { packed } from '#src/actions/codec.ts'
import { type TextKey, type Translate, typed } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import type { TelegramLinkOffer } from '#src/recipients/model.ts'
import { clockTime } from '../../views/time.ts'
import {
  act,
  menuButton,
  type Reader,
  type Rows,
  screen,
  type View,
  wholeAddress,
} from '../../views/view.ts'

/** The chat a card asks about. */
export interface AskedChat {
  readonly title: string
  /** `@` and the username, where there is one. */
  readonly username: string | undefined
  readonly place: 'private' | 'group' | 'forum' | 'topic'
}

/** Shows whose alerts a link would bring here and with which rights, and asks. */
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
    t.html('bot:link.allows', { rights: rightsText(t, offer.scopes) }),
    madeBy(reader, offer),
    t.html('bot:link.validUntil', { time: clockTime(reader, offer.expiresAt) }),
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
  const time = clockTime(reader, offer.createdAt)
  return offer.madeBy === null
    ? reader.t.html('bot:link.made', { time })
    : reader.t.html('bot:link.madeBy', { time, name: typed(offer.madeBy) })
}

/** What a chat with these scopes may do, in words. */
export function rightsText(t: Translate, scopes: readonly Scope[]): string {
  const write = scopes.includes('write')
  const spend = scopes.includes('spend')
  const key: TextKey = write
    ? spend
      ? 'bot:rights.writeSpend'
      : 'bot:rights.write'
    : spend
      ? 'bot:rights.spend'
      : 'bot:rights.read'
  return t(key)
}

/** A link that is used, over or unknown. */
export function linkOver(reader: Reader, options: { readonly isLinked: boolean }): View {
  return screen([reader.t.html('bot:link.over')], waysOn(reader, options))
}

/** After a refusal. */
export function linkRefused(reader: Reader, options: { readonly isLinked: boolean }): View {
  return screen([reader.t.html('bot:link.refused')], waysOn(reader, options))
}

/** A chat that is not linked can be, by a signature; in a group there is nothing to go on with. */
function waysOn({ t, isGroup }: Reader, { isLinked }: { readonly isLinked: boolean }): Rows {
  if (isLinked) return [[menuButton(t)]]
  if (isGroup) return []
  const connect = packed('connect', { spend: false })
  return [[act(t('bot:button.connect'), connect, 'primary')], [menuButton(t)]]
}
