import { packed } from '#src/actions/codec.ts'
import type { AddressProblem } from '#src/kernel/typed-address.ts'
import { addressRefusal, connectButton, WARNING } from '../../views/refusals.ts'
import { act, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { resumeButton } from '../start/resume-view.ts'

/** Answer to an unknown message, with a link to the help. */
export function notUnderstood(
  { t }: Reader,
  options: {
    readonly why: 'unknown-text' | 'media' | AddressProblem
    readonly isLinked: boolean
    /** A watch that the person was creating. */
    readonly resume?: { readonly rev: number; readonly type: string } | undefined
  },
): View {
  const { why, isLinked, resume } = options
  const text =
    why === 'unknown-text'
      ? t.html(isLinked ? 'bot:unknown.text' : 'bot:unknown.unlinked')
      : why === 'media'
        ? t.html('bot:unknown.media')
        : `${WARNING} ${addressRefusal(t, why)}`
  const suggestions = [
    act(t('bot:button.watches'), packed('watch.list', { page: 1 })),
    act(t('bot:button.newWatch'), packed('new.start')),
  ]
  return screen(
    [text],
    [
      resume === undefined ? [] : [resumeButton(t, resume, 'primary')],
      isLinked ? suggestions : [connectButton(t)],
      [menuButton(t), act(t('bot:button.help'), packed('help', { topic: undefined }))],
    ],
  )
}
