import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import { act, type Reader, screen, type View, walletName } from '../../views/view.ts'

/** The question whether a channel, of which the bot became an administrator, gets alerts of the wallet. */
export function channelOffer(
  { t }: Reader,
  {
    chatId,
    title,
    wallet,
  }: { readonly chatId: number; readonly title: string; readonly wallet: Address },
): View {
  const lines = [
    t.html('bot:channelLink.ask', { name: typed(title), wallet: walletName(wallet) }),
    t.html('bot:channelLink.about'),
  ]
  return screen(lines, [
    [act(t('bot:button.linkChannel'), packed('rec.channel', { chat: chatId }), 'primary')],
    [act(t('bot:button.cancel'), packed('close'))],
  ])
}
