import { failureWords } from '#src/channels/failure-reasons.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { formatDuration, shortAddress } from '#src/i18n/format.ts'
import {
  checkedKey,
  hasText,
  id,
  type TextKey,
  type TextValues,
  type Translate,
  typed,
} from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { isNameOf, shownTarget } from '#src/recipients/rules.ts'
import { type NoticeOf, type NoticeReader, type NoticeText, timeText } from './words.ts'

/** Texts of a destination that is off: reason, time, retained deliveries. Pure. */
export function destinationOff(
  notice: NoticeOf<'destination-off'>,
  reader: NoticeReader,
): NoticeText {
  const { t } = reader
  const name = typed(notice.name ?? notice.target)
  const key = CHANNELS[notice.channel].isChat
    ? 'destination-off.titleChat'
    : 'destination-off.title'
  const since = notice.failingSince ?? notice.at
  return {
    title: t(`notices:${key}`, { name }),
    lines: [
      reasonLine(notice, reader),
      t('notices:destination-off.since', { time: timeText(reader, since) }),
      ...(notice.kept === 0 ? [] : [t('notices:destination-off.kept', { count: notice.kept })]),
    ],
  }
}

/** Texts about a mailbox whose reader opted out of mails. Pure. */
export function optedOutText(
  { name, target }: NoticeOf<'refused'>,
  { t }: NoticeReader,
): NoticeText {
  return {
    title: t('notices:refused.title', { name: typed(name ?? target) }),
    lines: [t('notices:refused.removed', { target: typed(shownTarget({ name, target })) })],
  }
}

/** A sentence about the reason, or one with its words if there is none for it alone. */
function reasonLine(
  { statusReason, failingSince, at }: NoticeOf<'destination-off'>,
  { t }: NoticeReader,
): string {
  const reason = statusReason ?? ''
  const key = `notices:reason.${reason}`
  if (hasText(key) && !VARIABLE.includes(key)) return t(key)
  const seconds = failingSince === null ? 0 : (at.getTime() - failingSince.getTime()) / 1000
  if (seconds < 1) return t('notices:reason.other', { reason: failureWords(t, reason) })
  const duration = formatDuration(seconds, t.locale, 'long')
  const status = /^status_(\d{3})$/.exec(reason)?.[1]
  return status === undefined
    ? t('notices:reason.failing', { duration, reason: failureWords(t, reason) })
    : t('notices:reason.status', { duration, status: id(status) })
}

/** Sentences with placeholders, which must not be selected by a reason's name. */
const VARIABLE: readonly TextKey[] = [
  'notices:reason.failing',
  'notices:reason.status',
  'notices:reason.other',
]

/** Texts of a new destination: its kind, its rights, its creator. Pure. */
export function linkedText(notice: NoticeOf<'linked'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const made = { time: timeText(reader, notice.at) }
  const { madeBy, status } = notice
  return {
    title: t(checkedKey(`notices:linked.title.${notice.channel}`), {
      address: id(shortAddress(notice.wallet)),
    }),
    lines: [
      t(...whoIsLinked(notice, t)),
      ...(status === 'pending' ? [t('notices:linked.pending')] : []),
      madeBy === null
        ? t('notices:linked.at', made)
        : t('notices:linked.by', { ...made, token: typed(madeBy) }),
      t(madeBy === null ? 'notices:linked.advice' : 'notices:linked.adviceToken'),
    ],
  }
}

function whoIsLinked(notice: NoticeOf<'linked'>, t: Translate): readonly [TextKey, TextValues] {
  const { name, chat } = notice
  const target = typed(notice.target)
  if (name === null) return ['notices:linked.own', { target }]
  if (chat === null) {
    const key = isNameOf(notice.target, name) ? 'notices:linked.itself' : 'notices:linked.named'
    return [key, { name: typed(name), target }]
  }
  const rights = t(rightsKey(chat.scopes))
  const key = chat.isGroup ? 'notices:linked.group' : 'notices:linked.private'
  return [key, { name: typed(name), rights }]
}

function rightsKey(scopes: readonly Scope[]): TextKey {
  const [writes, spends] = [scopes.includes('write'), scopes.includes('spend')]
  if (writes && spends) return 'bot:rights.writeSpend'
  if (spends) return 'bot:rights.spend'
  return writes ? 'bot:rights.write' : 'bot:rights.read'
}
