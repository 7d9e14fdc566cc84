import { packed } from '#src/actions/codec.ts'
import { id, typed } from '#src/i18n/translate.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import { destinationName } from '../../views/destination.ts'
import { spoilerHtml } from '../../views/markup.ts'
import { nearTime } from '../../views/time.ts'
import { act, type Reader, screen, type View } from '../../views/view.ts'
import {
  backToRecipient,
  type DestinationData,
  type DestinationName,
  watchSelectionButton,
} from './card-view.ts'
import { backToList } from './list-view.ts'

/** Whether a destination still has the secret with which it was added. */
export function hasFirstKey({ key, createdAt }: Pick<Destination, 'key' | 'createdAt'>): boolean {
  return key?.since.getTime() === createdAt.getTime()
}

/** Asks for confirmation of a new signing secret. */
export function rotateQuestion(reader: Reader, { destination, hereId }: DestinationData): View {
  const { t } = reader
  const name = typed(destinationName(t, destination, hereId))
  return screen(
    [t.html('bot:rec.rotateQuestion', { name }), t.html('bot:rec.rotateEffect')],
    [
      [act(t('bot:button.newSecret'), packed('rec.rotateYes', { id: destination.id }), 'danger')],
      [act(`‹ ${t('bot:button.keep')}`, packed('rec.card', { id: destination.id }))],
    ],
  )
}

/**
 * A signing secret, shown once.
 * @param verifyUrl documentation of the verification
 */
export function secretShown(
  reader: Reader,
  { destination, hereId }: DestinationData,
  options: { readonly secret: string; readonly verifyUrl: string | undefined },
): View {
  const { t } = reader
  const { secret, verifyUrl } = options
  const name = typed(destinationName(t, destination, hereId))
  const params = { id: destination.id }
  const isNew = hasFirstKey(destination)
  return screen(
    [
      `✅ ${t.html('bot:rec.ready', { name })}`,
      t.html('bot:rec.secretOnce'),
      t.html('bot:rec.secretText', {
        // Not formatted as code: Telegram drops a spoiler around code, so the secret would be visible.
        secret: spoilerHtml(secret),
      }),
      ...(isNew ? ['', t.html('bot:rec.hearNext', { name })] : []),
    ],
    [
      [{ label: t('bot:button.copySecret'), copy: secret, style: 'primary' }],
      [
        act(t(isNew ? 'bot:button.savedNext' : 'bot:button.saved'), packed('rec.saved', params)),
        act(t('bot:button.test'), packed('rec.test', params)),
      ],
      verifyUrl === undefined ? [] : [{ label: t('bot:button.verify'), url: verifyUrl }],
      [backToList(t)],
    ],
  )
}

interface HiddenOptions {
  readonly shownAt: Date
  readonly now: Date
}

/** Line instead of a secret: HTML. */
export function hiddenLine(
  reader: Reader,
  { destination, hereId }: DestinationName,
  options: HiddenOptions,
): string {
  const { t } = reader
  const values = {
    name: typed(destinationName(t, destination, hereId)),
    ending: id(destination.key?.ending ?? ''),
    time: nearTime(reader, options.shownAt, options.now),
  }
  return `✅ ${t.html('bot:rec.secretHidden', values)}`
}

/** Message after a secret was hidden. */
export function secretHidden(reader: Reader, about: DestinationName, options: HiddenOptions): View {
  const { t } = reader
  const { destination, hereId } = about
  return screen(
    [hiddenLine(reader, about, options)],
    [
      [
        act(t('bot:button.test'), packed('rec.test', { id: destination.id })),
        watchSelectionButton(t, destination.id),
      ],
      [backToRecipient(reader, destination, hereId)],
    ],
  )
}
