import { packed } from '#src/actions/codec.ts'
import { LOCALES, type Locale, localeName } from '#src/kernel/locale.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { back, choiceButton, menuButton, type Reader, screen, type View } from '../../views/view.ts'

/**
 * All languages by their own names, two per row.
 *
 * @param options `hasSettings`: whether the reader has settings to go back to; `notice`: reason for missing
 * buttons, HTML
 */
export function languageChoice(
  { t }: Reader,
  options: { readonly buttons: boolean; readonly hasSettings: boolean; readonly notice?: string },
): View {
  const language = localeName(t.locale)
  const title = `🌐 ${t.html('bot:language.title', { language })}`
  if (!options.buttons) return screen([title, options.notice ?? t.html('bot:group.adminsOnly')])
  const buttons = LOCALES.map((locale) => choice(locale, locale === t.locale))
  const rows = Array.from({ length: Math.ceil(buttons.length / 2) }, (_, index) =>
    buttons.slice(index * 2, index * 2 + 2),
  )
  const toSettings = options.hasSettings ? [back(t('bot:button.settings'), packed('settings'))] : []
  return screen([title], [...rows, [...toSettings, menuButton(t)]])
}

function choice(locale: Locale, isChosen: boolean): Button {
  return choiceButton(localeName(locale), isChosen, packed('settings.langSet', { locale }))
}
