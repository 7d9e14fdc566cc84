import { packed } from '#src/actions/codec.ts'
import type { AlertLine } from '#src/alerts/history/lines.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { nearTime } from '../../views/time.ts'
import { act, labelWithName, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { STATUS_GLYPHS } from '../../views/watch-state.ts'

/** Muted chat, watches and alerts. */
export interface ActiveMutes {
  /** End of the chat's mute. */
  readonly chatUntil: Date | undefined
  /** Watches that are muted now. */
  readonly watches: readonly Watch[]
  /** Alerts that are muted until they recover. */
  readonly alerts: readonly AlertLine[]
}

interface MuteOptions {
  readonly now: Date
  /** Whether there are buttons. */
  readonly buttons: boolean
  /** Whether watches and alerts may be unmuted from this chat. */
  readonly canWrite: boolean
  /** Line about the last action, or about missing rights: HTML. */
  readonly notice?: string
}

/** Maximum number of lines and buttons for mutes; the rest is in the list of watches. */
const SHOWN_MAX = 2
const TITLE_MAX = 60

/** All mutes, and buttons to mute the whole chat. */
export function muteScreen(reader: Reader, muted: ActiveMutes, options: MuteOptions): View {
  const { t } = reader
  const { chatUntil, watches, alerts } = muted
  const { now, buttons, canWrite, notice } = options
  const shownWatches = watches.slice(0, SHOWN_MAX)
  const shownAlerts = alerts.slice(0, SHOWN_MAX - shownWatches.length)
  const hidden = watches.length + alerts.length - shownWatches.length - shownAlerts.length
  const lines = [
    notice,
    `${STATUS_GLYPHS.muted} ${t.html('bot:muted.title')}`,
    chatUntil === undefined
      ? t.html('bot:muted.chatOff')
      : t.html('bot:muted.chatUntil', { until: nearTime(reader, chatUntil, now) }),
    ...shownWatches.map((watch) => watchLine(reader, watch, now)),
    ...shownAlerts.map((line) =>
      t.html('bot:muted.alert', { title: cutText(line.title, TITLE_MAX) }),
    ),
    hidden === 0 ? undefined : t.html('bot:watches.more', { count: hidden }),
    '',
    t.html('bot:muted.effect'),
  ]
  const all = (duration: '1h' | '8h' | '8am') =>
    act(t(`bot:button.muteChat.${duration}`), packed('mute.all', { duration }))
  const ends: readonly (readonly Button[])[] = [
    ...(chatUntil === undefined
      ? []
      : [[act(t('bot:button.unmuteChat'), packed('mute.all', { duration: '0' }), 'primary')]]),
    ...(canWrite ? [...shownWatches.map(endWatch), ...shownAlerts.map(endAlert)] : []).map(
      (mute) => [act(t('bot:button.endMute', { label: mute.label }), mute.data)],
    ),
  ]
  const rows = [
    chatUntil === undefined ? [all('1h'), all('8h'), all('8am')] : [],
    ...ends,
    [act(t('bot:button.muteWatch'), packed('watch.list', { page: 1 }))],
    ...(canWrite ? [[act(t('bot:button.maintenance'), packed('maintenance'))]] : []),
    [menuButton(t)],
  ]
  return screen(lines, buttons ? rows : [])
}

function watchLine(reader: Reader, { label, mutedUntil }: Watch, now: Date): string {
  return reader.t.html('bot:muted.watch', {
    label: typed(label),
    until: mutedUntil === null ? '' : nearTime(reader, mutedUntil, now),
  })
}

/** Maximum length of a label on a button, after the verb. */
const LABEL_MAX = 12

function endWatch({ id, label }: Watch) {
  return { label: short(label), data: packed('mute.off', { kind: 'w', id }) }
}

function endAlert(line: AlertLine) {
  const label = short(line.title)
  return { label, data: packed('mute.off', { kind: 'a', id: line.id }) }
}

function short(text: string): string {
  return labelWithName(cutText(text, LABEL_MAX), isolate)
}
