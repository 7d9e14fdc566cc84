import { packed } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act } from './view.ts'

/** Button that lets a private chat follow a provider without a wallet. */
export function followButton(t: Translate, provider: Address, style?: 'primary'): Button {
  return act(t('bot:button.follow'), packed('follow.on', { address: provider }), style)
}
