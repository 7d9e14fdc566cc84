import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { type Locale, localeName } from '#src/kernel/locale.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { type GroupPlace, groupStart } from '#src/telegram/links.ts'
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
function groupHello(reader: Reader, { title, ...place }: UnlinkedChat): View {
  const { t } = reader
  return screen(
    [`👋 ${t.html('bot:group.hello', { name: typed(title) })}`, t.html('bot:group.howToLink')],
    [
      [
        {
          label: t('bot:button.setUp'),
          url: deepLink(reader, groupStart(place)),
          style: 'primary',
        },
      ],
    ],
  )
}

/** A chat that is not linked, and the topic in which it is answered. */
interface UnlinkedChat extends GroupPlace {
  readonly title: string
}

/**
 * Home screen of a chat that is not linked.
 *
 * @param notice line above it, in private chats: HTML
 */
export function unlinkedHome(reader: Reader, chat: UnlinkedChat, notice?: string): View {
  return reader.isGroup ? groupHello(reader, chat) : firstContact(reader, notice)
}
