import { unpacked } from '#src/actions/codec.ts'
import type { AlertCard } from '#src/alerts/history/card.ts'
import type { Envelope, MessageState, OpenPart } from '#src/channels/envelope.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { withoutNames } from '#src/channels/updates/shown.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { listData, USUAL_FILTER } from '../../views/alert-list.ts'
import { back, type Reader, type View } from '../../views/view.ts'

/** A delivered message in its present state, in its original language. */
export function deliveredMessage(
  reader: Reader,
  { envelope, state }: { readonly envelope: Envelope; readonly state: MessageState },
  options: { readonly isReceiveOnly: boolean; readonly preview: string | undefined },
): View {
  const { isGroup, bot } = reader
  const { isReceiveOnly, preview } = options
  return { ...alertView(envelope, state, { isGroup, botUsername: bot, isReceiveOnly }), preview }
}

export interface CardOptions {
  /** What is open below the card. */
  readonly open?: OpenPart | undefined
  /** Buttons for the reader. `none`: pages and help; `read`: also the way back; `write`: all. */
  readonly rights: 'none' | 'read' | 'write'
  readonly now: Date
}

/** An alert of the history: its message in the current state. */
export function alertCard(reader: Reader, card: AlertCard, options: CardOptions): View {
  const { t } = reader
  const { open, rights, now } = options
  const known = rights === 'write' ? card.state : withoutNames(card.state)
  const state = { ...known, ...(open !== undefined && { open }) }
  const view = alertView(card.envelope, state, {
    isGroup: reader.isGroup,
    botUsername: reader.bot,
    now,
  })
  const { rows } = view
  return {
    html: view.html,
    rows: [
      ...(rights === 'write' ? rows : rows.map((row) => row.filter(isReadOnly))),
      ...(rights === 'none' ? [] : [[back(t('bot:button.alerts'), listData(USUAL_FILTER))]]),
    ].filter((row) => row.length > 0),
  }
}

/** Whether a button changes nothing, such as pages and help. */
function isReadOnly(button: Rows[number][number]): boolean {
  if (!('data' in button)) return true
  const press = unpacked(button.data)
  return press?.verb === 'alert.open' && press.args['part'] !== 'm'
}
