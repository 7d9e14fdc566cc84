import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { languageButton } from '../../views/hello.ts'
import { act, menuButton, type Reader, screen, type View, walletName } from '../../views/view.ts'
import { type TopicPlace, topicLine } from '../topic/view.ts'

/** What the settings of a group show. */
export interface GroupSettings {
  readonly title: string
  /** Topic of the alerts; undefined in a group without topics. */
  readonly topic: TopicPlace | undefined
  /** The chosen wallet, if there are several. */
  readonly chosen: string | undefined
}

/** Settings of a linked group. */
export function groupSettings(reader: Reader, group: GroupSettings): View {
  const { t } = reader
  const { title, topic, chosen } = group
  const lines = [
    t.html('bot:group.settings', { name: typed(title) }),
    topic && topicLine(reader, topic),
    chosen === undefined ? undefined : t.html('bot:home.title', { wallet: walletName(chosen) }),
  ]
  return screen(lines, [
    [
      ...(topic === undefined
        ? []
        : [act(t('bot:button.topic'), packed('group.topic', { choice: 'ask' }))]),
      ...(chosen === undefined ? [] : [act(walletName(chosen), packed('wallet.list'))]),
      languageButton(t.locale),
    ],
    [menuButton(t), act(t('bot:button.unlinkGroup'), packed('stop'))],
  ])
}
