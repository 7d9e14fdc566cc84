import { packed } from '#src/actions/codec.ts'
import { LOCALES, type Locale, localeName } from '#src/kernel/locale.ts'
import type { Button } from '#src/telegram/buttons.ts'
import {
  act,
  back,
  choiceButton,
  menuButton,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'

/**
 * All languages by their own names, two per row.
 *
 * @param options `hasSettings`: whether the reader has settings to go back to
 */
export function languageChoice({ t }: Reader, options: { readonly hasSettings: boolean }): View {
  const language = localeName(t.locale)
  const title = `🌐 ${t.html('bot:language.title', { language })}`
  const buttons = LOCALES.map((locale) => choice(locale, locale === t.locale))
  const rows = Array.from({ length: Math.ceil(buttons.length / 2) }, (_, index) =>
    buttons.slice(index * 2, index * 2 + 2),
  )
  const zone = packed('settings.zone', { region: 'all', page: 1 })
  const last = options.hasSettings
    ? [back(t('bot:button.settings'), packed('settings')), act(t('bot:button.zone'), zone)]
    : [menuButton(t)]
  return screen([title], [...rows, last])
}

function choice(locale: Locale, isChosen: boolean): Button {
  return choiceButton(localeName(locale), isChosen, packed('settings.langSet', { locale }))
}
