/** Items of a group or summary: one line for each of its messages. */

import { translator } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Envelope, EnvelopeMessage, MessageField, MessageState } from '../envelope.ts'
import { itemsOf, numberOf, sharedNumber, stateIn } from '../groups/group.ts'
import { groupItemTitle } from '../groups/wording.ts'
import { glyphOf, isolatedInArabic, lineStart, plainLineWriter } from './wording.ts'

/** One message of a group or summary. */
export interface CardItem {
  /** Glyph, time (if shown) and title. */
  readonly glyph: string
  readonly time: string | undefined
  readonly text: string
  /** Number of its incident, if the message is about several. */
  readonly number: string | undefined
  /** Values that are shown behind the title. */
  readonly fields: readonly MessageField[]
  readonly message: EnvelopeMessage
}

/** Maximum number of characters of a title. */
export const TITLE_MAX = 300

/** Fields of a transfer that a list of transfers shows: the other account, and the transaction. */
const TRANSFER_FIELDS: readonly string[] = [
  'receiver',
  'sender',
  'tx',
  'tx1',
  'tx2',
  'tx3',
  'moreTx',
]

/** One of several alerts of a watch, with what has become of it. */
export function groupItem(
  envelope: Envelope,
  item: EnvelopeMessage,
  state: MessageState,
): CardItem {
  const own = stateIn(state, item)
  const title = groupItemTitle(
    translator(envelope.locale),
    item,
    own,
    own.recovery?.(envelope)?.title,
  )
  return {
    glyph: glyphOf(item, own),
    time: undefined,
    text: cutText(title, TITLE_MAX),
    number: sharedNumber(itemsOf(envelope)) === undefined ? numberOf(item) : undefined,
    fields: [],
    message: item,
  }
}

/** One of several transfers, with its time, the other account and the transaction. */
export function transferItem(envelope: Envelope, item: EnvelopeMessage, shownAt: Date): CardItem {
  const at = new Date(item.firedAt)
  return {
    glyph: glyphOf(item),
    time: String(plainLineWriter(envelope).time(at, { shownAt, seconds: true })),
    text: cutText(item.title, TITLE_MAX),
    number: undefined,
    fields: item.fields.filter(({ key }) => TRANSFER_FIELDS.includes(key)),
    message: item,
  }
}

/** An item as one line of text. */
export function itemLine(
  { glyph, time, text, number }: CardItem,
  locale: Envelope['locale'],
): string {
  const start = time === undefined ? [] : [isolatedInArabic(locale, time)]
  const end = number === undefined ? [] : [isolatedInArabic(locale, number)]
  return lineStart(locale) + [...start, glyph, text, ...end].join(' ')
}
