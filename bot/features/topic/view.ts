import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { act, back, choiceButton, type Reader, screen, type View } from '../../views/view.ts'

/** Topic that gets the alerts, and topic in which the command was sent. */
export interface TopicPlace {
  /** The current topic of alerts; null for General. */
  readonly current: number | null
  /** The topic in which the command was sent; undefined for General. */
  readonly here: number | undefined
}

/** The topic of the group's alerts, in words. */
export function topicLine({ t }: Reader, { current, here }: TopicPlace): string {
  if (current === null) return t.html('bot:topic.general')
  return t.html(current === here ? 'bot:topic.here' : 'bot:topic.other')
}

interface TopicOptions extends TopicPlace {
  /** Whether the topic was chosen just now. */
  readonly isNew: boolean
  /** Name of the topic, if it was newly created. */
  readonly made?: string | undefined
}

/** Choice of the topic of a group's alerts. */
export function topicChoice(reader: Reader, options: TopicOptions): View {
  const { t } = reader
  const { current, here, isNew, made } = options
  const place =
    made === undefined
      ? topicLine(reader, options)
      : t.html('bot:topic.made', { name: typed(made) })
  const choice = (name: string) => packed('group.topic', { choice: name })
  return screen(
    [t.html('bot:topic.title'), isNew ? `✓ ${place}` : place],
    [
      [choiceButton(t('bot:button.topicGeneral'), current === null, choice('gen'))],
      here === undefined
        ? []
        : [choiceButton(t('bot:button.topicHere'), current === here, choice('her'))],
      [act(t('bot:button.topicNew'), choice('new'))],
      [back(t('bot:button.menu'), packed('home'))],
    ],
  )
}
