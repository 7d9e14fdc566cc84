/** The subjects of e-mails. Pure. */

import { type Translate, typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { textAfterWatchName } from '#src/kernel/title-after-watch-name.ts'
import type { Card } from '../card/card.ts'
import { alertHeading } from '../card/heading.ts'
import { cutAfterWord, severityWord, worstOf } from '../card/wording.ts'
import { type Envelope, isOneAlert } from '../envelope.ts'
import { mailSubject, SUBJECT_ROOM } from './text.ts'

const TITLE_MAX = 300
/** Maximum length of a watch's name in a subject, which has 78 characters. */
const LABEL_MAX = 24

/**
 * Subject of an e-mail: the name of the watch, what happened, and how severe it is. A reminder keeps the subject of
 * the first message after `Re:`. A recovery has a subject of its own, so that a list of e-mails shows that the
 * alert is over. In both cases the headers name the thread. A test begins with its mark instead, so that a cut
 * subject does not read as an alert.
 */
export function subjectOf(
  t: Translate,
  envelope: Envelope,
  { title }: Pick<Card, 'title'>,
): string {
  const { kind = 'alert', message, answers, answered } = envelope
  const watch = onlyWatch(envelope)
  if (kind === 'summary' || kind === 'notice') return mailSubject(afterWatch(t, watch, title))
  const labelMax = LABEL_MAX
  const repeated = message.isRecovery ? undefined : answered
  const isAnswer = answers !== undefined && !message.isRecovery
  const happened = cutText(repeated?.title ?? message.title, TITLE_MAX)
  const what = isOneAlert(kind)
    ? alertHeading(envelope, { title: happened, labelMax })
    : kind === 'group'
      ? title
      : afterWatch(t, watch, title)
  if (message.test) {
    const marked = t('messages:item', { watch: t('messages:test.label'), title: what })
    return mailSubject(cutAfterWord(marked, SUBJECT_ROOM))
  }
  const end = ` · ${levelOf(t, envelope, repeated)}`
  return mailSubject(`${cutAfterWord(mailSubject(what), SUBJECT_ROOM - end.length)}${end}`, {
    isAnswer,
  })
}

/** Severity or state, as the last word of a subject. */
function levelOf(
  t: Translate,
  { kind = 'alert', message, items = [] }: Envelope,
  repeated: Envelope['answered'],
): string {
  if (repeated !== undefined) return t(`messages:severity.${repeated.severity}`)
  const isCounted = kind === 'group' || kind === 'rollup'
  return severityWord(t, (isCounted ? worstOf(items) : undefined) ?? message)
}

/** Name of the watch that the whole message is about; undefined if there are several, or none. */
function onlyWatch({ message, items = [], more = 0 }: Envelope): string | undefined {
  const labels = [message, ...items].flatMap(({ watchLabel }) => watchLabel ?? [])
  const [first] = labels
  return more === 0 && labels.every((label) => label === first) ? first : undefined
}

/** A title after the name of its watch, unless it begins with it. */
function afterWatch(t: Translate, watch: string | undefined, title: string): string {
  if (watch === undefined || textAfterWatchName(watch, title) !== undefined) return title
  return t('messages:item', { watch: typed(cutText(watch, LABEL_MAX)), title })
}
