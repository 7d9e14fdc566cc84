import type { ChannelKey } from '#src/channels/index.ts'
import { cut } from '#src/channels/wording.ts'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import type { Destination } from '#src/recipients/destination-list.ts'

const NAME_MAX = 60

/** Name of a destination, or its relation to the reader. */
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
