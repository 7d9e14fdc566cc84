import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { languageButton } from '../../views/hello.ts'
import {
  act,
  choiceButton,
  menuButton,
  type Reader,
  screen,
  type View,
  walletName,
} from '../../views/view.ts'
import { SEVERITY_BY_CODE } from '../recipients/edit-view.ts'
import { type TopicPlace, topicLine } from '../topic/view.ts'

/** What the settings of a group show. */
export interface GroupSettings {
  readonly title: string
  /** Topic of the alerts; undefined in a group without topics. */
  readonly topic: TopicPlace | undefined
  /** The chosen wallet, if there are several. */
  readonly chosen: string | undefined
  /** Whether every member may acknowledge; undefined in a group that only receives. */
  readonly membersAcknowledge: boolean | undefined
}

/** Settings of a linked group. */
export function groupSettings(reader: Reader, group: GroupSettings): View {
  const { t } = reader
  const { title, topic, chosen, membersAcknowledge: isForAll } = group
  const lines = [
    t.html('bot:group.settings', { name: typed(title) }),
    topic && topicLine(reader, topic),
    chosen === undefined ? undefined : t.html('bot:home.title', { wallet: walletName(chosen) }),
    isForAll === undefined ? undefined : t.html(`bot:group.acks.${isForAll ? 'all' : 'admins'}`),
  ]
  return screen(lines, [
    [
      ...(topic === undefined
        ? []
        : [act(t('bot:button.topic'), packed('group.topic', { choice: 'ask' }))]),
      ...(chosen === undefined ? [] : [act(walletName(chosen), packed('wallet.list'))]),
      languageButton(t.locale),
    ],
    isForAll === undefined
      ? []
      : [
          choiceButton(
            t('bot:button.membersAck'),
            isForAll,
            packed('group.members', { on: !isForAll }),
          ),
        ],
    [menuButton(t), act(t('bot:button.unlinkGroup'), packed('stop'))],
  ])
}

/**
 * Choice of what a group hears, from a severity on.
 * @param url where its owner chooses the watches, in the private chat
 */
export function groupHearing({ t }: Reader, minSeverity: Severity, url: string): View {
  const choices = Object.entries(SEVERITY_BY_CODE).map(([level, severity]) => [
    choiceButton(
      t(`bot:button.from.${severity}`),
      severity === minSeverity,
      packed('group.hear', { level }),
    ),
  ])
  return screen(
    [t.html(`bot:group.from.${minSeverity}`)],
    [...choices, [{ label: t('bot:button.hear'), url }], [menuButton(t)]],
  )
}
