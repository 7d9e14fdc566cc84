import type { ChannelKey } from '#src/channels/index.ts'
import { cut } from '#src/channels/wording.ts'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
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
  return own ? t(builtKey(`bot:rec.own.${channel}`)) : cut(name, NAME_MAX)
}

/** Name of a channel. */
export function channelName(t: Translate, channel: ChannelKey): string {
  return t(`bot:channel.${channel}`)
}

/** Whether the destination is active. */
export function isOn({ status }: Pick<Destination, 'status'>): boolean {
  return status === 'active'
}
