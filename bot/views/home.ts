import { builtKey, typed } from '#src/i18n/translate.ts'
import { LOCALE_NAMES, type Locale } from '#src/kernel/locale.ts'
import type { Watch } from '#src/watches/model.ts'
import { packed } from '../callback-data.ts'
import { type Button, type Reader, screen, type View, walletName } from './view.ts'
import { GLYPHS, STANDINGS, standingOf } from './watch-state.ts'

/** The button that leads to the languages, in the reader's own. */
function languageButton(locale: Locale): Button {
  return { label: `🌐 ${LOCALE_NAMES[locale]}`, data: packed('settings.lang') }
}

/**
 * What a private chat shows before it is linked.
 *
 * @param notice a line about why it is shown: HTML
 */
export function firstContact({ t }: Reader, notice?: string): View {
  const lines = [
    ...(notice === undefined ? [] : [notice, '']),
    t.html('bot:start.greeting'),
    '',
    t.html('bot:start.safety'),
    '',
    t.html('bot:start.howToLink'),
  ]
  return screen(lines, [[languageButton(t.locale)]])
}

/** Everything at a glance, for a linked private chat. */
export function home(
  reader: Reader,
  wallet: string,
  watches: readonly Watch[],
  options: { readonly now: Date; readonly notice?: string },
): View {
  const { t } = reader
  const lines = [
    options.notice,
    t.html('bot:home.title', { wallet: walletName(wallet) }),
    ...summary(reader, watches, options.now),
  ]
  return screen(lines, [
    [{ label: t('bot:button.watches'), data: packed('watch.list', { page: 1 }), style: 'primary' }],
    [languageButton(t.locale)],
  ])
}

/** The same for a linked group. Buttons are for those who may manage. */
export function groupHome(
  reader: Reader,
  group: { readonly title: string; readonly wallets: readonly string[] },
  watches: readonly Watch[],
  options: { readonly now: Date; readonly buttons: boolean; readonly notice?: string },
): View {
  const { t } = reader
  const lines = [
    options.notice,
    ...group.wallets.map((wallet) =>
      t.html('bot:group.linked', { name: typed(group.title), wallet: walletName(wallet) }),
    ),
    ...summary(reader, watches, options.now),
  ]
  const rows = [
    [
      { label: t('bot:button.watches'), data: packed('watch.list', { page: 1 }) },
      languageButton(t.locale),
    ],
  ]
  return screen(lines, options.buttons ? rows : [])
}

/** What a group sees that is not linked. */
export function groupHello({ t }: Reader, title: string): View {
  return screen([
    `👋 ${t.html('bot:group.hello', { name: typed(title) })}`,
    t.html('bot:group.howToLink'),
  ])
}

/** One line for each way watches stand. */
function summary({ t }: Reader, watches: readonly Watch[], now: Date): readonly string[] {
  if (watches.length === 0) return [t.html('bot:home.empty')]
  const counts = Map.groupBy(watches, (watch) => standingOf(watch, now))
  if (counts.get('fine')?.length === watches.length) {
    return [`${GLYPHS.fine} ${t.html('bot:home.quiet', { count: watches.length })}`]
  }
  return STANDINGS.flatMap((standing) => {
    const count = counts.get(standing)?.length ?? 0
    if (count === 0) return []
    return [`${GLYPHS[standing]} ${t.html(builtKey(`bot:count.${standing}`), { count })}`]
  })
}
