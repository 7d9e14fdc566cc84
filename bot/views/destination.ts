import type { ChannelKey } from '#src/channels/index.ts'
import { checkedKey, hasText, type TextKey, type Translate } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Destination } from '#src/recipients/destination-list.ts'

const NAME_MAX = 60

/**
 * Name of a destination on a screen: *This chat*, for the wallet's own one a text about its channel, else its
 * stored name.
 *
 * @param hereId id of the destination that is the reader's chat
 */
export function destinationName(
  t: Translate,
  { id, own, channel, name }: Pick<Destination, 'id' | 'own' | 'channel' | 'name'>,
  hereId: number | undefined,
): string {
  if (id === hereId) return t('bot:rec.here')
  return own ? t(checkedKey(`bot:rec.own.${channel}`)) : cutText(name, NAME_MAX)
}

/**
 * Whether the readers of a chat may see a destination: with the scope `write` all, otherwise only the chat itself.
 *
 * @param rights `scopes`: of the person in the chat, or of the chat's link where nobody in particular reads; `hereId`: id
 * of the destination that is the chat
 */
export function canSeeDestination(
  rights: { readonly scopes: readonly Scope[]; readonly hereId: number },
  id: number,
): boolean {
  const { scopes, hereId } = rights
  return scopes.includes('write') || id === hereId
}

/** Name of a channel. */
export function channelName(t: Translate, channel: ChannelKey): string {
  return t(`bot:channel.${channel}`)
}

/** Reasons whose sentence has placeholders, for which screens have no values. */
const WITH_VALUES: readonly TextKey[] = [
  'notices:reason.failing',
  'notices:reason.status',
  'notices:reason.other',
]

/** Sentence about why a destination cannot be reached, as HTML; undefined for a reason that has none. */
export function knownReason(t: Translate, reason: string): string | undefined {
  const key = `notices:reason.${reason}`
  return hasText(key) && !WITH_VALUES.includes(key) ? t.html(key) : undefined
}

/** Whether the destination is active. */
export function isOn({ status }: Pick<Destination, 'status'>): boolean {
  return status === 'active'
}

/** Status of a destination, and why it has it. */
export type StatusWithReason = Pick<Destination, 'status' | 'statusReason'>

/** The status of a destination in a few words: why a chat cannot be reached, else only the status. */
export function statusText(t: Translate, { status, statusReason }: StatusWithReason): string {
  const key = `notices:failure.${statusReason ?? ''}`
  return status === 'blocked' && hasText(key) ? t(key) : t(checkedKey(`bot:status.${status}`))
}
