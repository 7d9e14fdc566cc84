import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import { act, back, type Reader, screen, type View } from '../../views/view.ts'

/** Where alerts go, as seen from a topic. */
export interface TopicPlace {
  /** The topic alerts go to now; null: General. */
  readonly current: number | null
  /** The topic this is read in; undefined: General. */
  readonly here: number | undefined
}

/** Where the group's alerts go, in words. */
export function topicLine({ t }: Reader, { current, here }: TopicPlace): string {
  if (current === null) return t.html('bot:topic.general')
  return t.html(current === here ? 'bot:topic.here' : 'bot:topic.other')
}

interface TopicOptions extends TopicPlace {
  /** It was chosen just now. */
  readonly isNew: boolean
  /** What the topic is called, if it was made for that. */
  readonly made?: string | undefined
}

/** Where in a group with topics its alerts go. */
export function topicChoice(reader: Reader, options: TopicOptions): View {
  const { t } = reader
  const { current, here, isNew, made } = options
  const place =
    made === undefined
      ? topicLine(reader, options)
      : t.html('bot:topic.made', { name: typed(made) })
  const tick = (label: string, isChosen: boolean) => (isChosen ? `✓ ${label}` : label)
  const choice = (label: string, name: string) =>
    act(label, packed('group.topic', { choice: name }))
  return screen(
    [t.html('bot:topic.title'), tick(place, isNew)],
    [
      [choice(tick(t('bot:button.topicGeneral'), current === null), 'gen')],
      here === undefined ? [] : [choice(tick(t('bot:button.topicHere'), current === here), 'her')],
      [choice(t('bot:button.topicNew'), 'new')],
      [back(t('bot:button.menu'), packed('home'))],
    ],
  )
}
