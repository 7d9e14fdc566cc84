import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { type Locale, localeName } from '#src/kernel/locale.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { exampleStart } from './example-start.ts'
import { deepLink, type Reader, screen, type View } from './view.ts'

/** Button to the choice of languages, labelled in the reader's language. */
export function languageButton(locale: Locale): Button {
  return { label: `🌐 ${localeName(locale)}`, data: packed('settings.lang') }
}

/**
 * Home screen of a private chat before it is linked.
 *
 * @param notice line above it: HTML
 */
function firstContact({ t }: Reader, notice?: string): View {
  const lines = [
    ...(notice === undefined ? [] : [notice, '']),
    t.html('bot:start.greeting'),
    '',
    t.html('bot:start.safety'),
    '',
    t.html('bot:start.example'),
  ]
  const connect = packed('connect', { spend: false })
  return screen(lines, [
    [{ label: t('bot:button.connect'), data: connect, style: 'primary' }],
    [
      exampleStart(t('bot:button.example.wallet'), 'wallet'),
      exampleStart(t('bot:button.example.provider')),
    ],
    [languageButton(t.locale)],
  ])
}

/** Home screen of a group that is not linked. */
function groupHello(reader: Reader, title: string): View {
  const { t } = reader
  return screen(
    [`👋 ${t.html('bot:group.hello', { name: typed(title) })}`, t.html('bot:group.howToLink')],
    [[{ label: t('bot:button.setUp'), url: deepLink(reader, 'group'), style: 'primary' }]],
  )
}

/**
 * Home screen of a chat that is not linked.
 *
 * @param title of the group
 * @param notice line above it, in private chats: HTML
 */
export function unlinkedHome(reader: Reader, title: string, notice?: string): View {
  return reader.isGroup ? groupHello(reader, title) : firstContact(reader, notice)
}
