import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import { act, back, labelWithName, type Reader, screen, type View } from '../../views/view.ts'
import { STATUS_GLYPHS } from '../../views/watch-state.ts'
import { backToCard } from './edit-view.ts'

/** Choice of the duration of a mute. */
export function muteChoice(reader: Reader, watch: Watch): View {
  const { t } = reader
  const lines = [
    `${STATUS_GLYPHS.muted} ${t.html('bot:mute.title', { label: typed(watch.label) })}`,
    '',
    t.html('bot:mute.effect'),
  ]
  const choice = (duration: '1h' | '8h' | '24h' | '8am' | '7d') =>
    act(t(`bot:mute.${duration}`), packed('watch.muteFor', { id: watch.id, duration }))
  return screen(lines, [
    [choice('1h'), choice('8h'), choice('24h')],
    [choice('8am'), choice('7d')],
    [backToCard(watch)],
  ])
}

/** Asks for confirmation of the deletion, with the watch's name. */
export function deleteQuestion({ t }: Reader, watch: Watch): View {
  const lines = [
    t.html('bot:delete.question', { label: typed(watch.label) }),
    t.html('bot:delete.effect'),
  ]
  return screen(lines, [
    [
      act(
        labelWithName(watch.label, (name) => t('bot:button.deleteWatch', { label: typed(name) })),
        packed('watch.deleteYes', { id: watch.id }),
        'danger',
      ),
    ],
    [back(t('bot:button.keep'), packed('watch.card', { id: watch.id }))],
  ])
}
