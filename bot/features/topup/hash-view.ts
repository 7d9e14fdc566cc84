import { packed } from '#src/actions/codec.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import type { Html } from '#src/i18n/translate.ts'
import { codeHtml } from '../../views/markup.ts'
import { back, type Reader, screen, type View } from '../../views/view.ts'

export function hashText(hash: string): Html {
  return codeHtml(hash)
}

/** Asks for the transaction that pays a top-up. */
export function hashQuestion({ t }: Reader, { handle }: Pick<Topup, 'handle'>): View {
  return screen(
    [t.html('bot:topup.askHash')],
    [[back(t('bot:button.payment'), packed('topup.check', { handle }))]],
  )
}
