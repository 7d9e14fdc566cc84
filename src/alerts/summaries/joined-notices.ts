/** Several notices for one reader in one message. Pure. */
import { packed } from '#src/actions/codec.ts'
import { rankOf } from '#src/channels/card/wording.ts'
import type { Envelope, EnvelopeMessage, MessageButton } from '#src/channels/envelope.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { addUpNotices, rewordEnded } from './notice-sums.ts'

const CLOSE = packed('close')
/** Maximum number of notices in one message. */
const NOTICES_MAX = 8
/** Maximum number of characters of notices in one message; every channel shows that many. */
const CHARACTERS_MAX = 3000

/** Distributes notices over messages, in order, so that none is cut. */
export function splitIntoMessages<Row extends { readonly envelope: Envelope }>(
  rows: readonly Row[],
): readonly (readonly [Row, ...Row[]])[] {
  const messages: [Row, ...Row[]][] = []
  let length = 0
  for (const row of rows) {
    const { title, body } = row.envelope.message
    const noticeLength = title.length + body.length
    const last = messages.at(-1)
    if (
      last === undefined ||
      last.length >= NOTICES_MAX ||
      length + noticeLength > CHARACTERS_MAX
    ) {
      messages.push([row])
      length = noticeLength
    } else {
      last.push(row)
      length += noticeLength
    }
  }
  return messages
}

/**
 * Joins notices to one. Notices of one kind are added up. If several remain, the heading is that of the most severe,
 * with the number of the others, and each is listed with its title and its sentences, the most severe first.
 *
 * A button that occurs once stays. Several buttons with the same label are replaced by one button that
 * opens the recipients or slots. No button deletes the message.
 */
export function joinNotices(
  t: Translate,
  notices: readonly [Envelope, ...Envelope[]],
  { deliveryId, now }: { readonly deliveryId: string; readonly now: Date },
): Envelope {
  const [oldest, ...later] = addUpNotices(t, notices)
  const worst = later.reduce(
    (envelope, other) => (rankOf(other.message) > rankOf(envelope.message) ? other : envelope),
    oldest,
  )
  if (notices.length === 1) return { ...rewordEnded(t, oldest, now), deliveryId }
  const all = [worst, ...[oldest, ...later].filter((notice) => notice !== worst)]
  const buttons = buttonsOf(t, all)
  return {
    ...worst,
    deliveryId,
    message: {
      ...worst.message,
      ...textOf(
        t,
        all.map((notice) => rewordEnded(t, notice, now).message),
      ),
    },
    buttons: buttons.length === 0 ? [] : [buttons],
  }
}

function textOf(t: Translate, messages: readonly EnvelopeMessage[]) {
  const [first, ...others] = messages
  if (first !== undefined && others.length === 0) return { title: first.title, body: first.body }
  return {
    title: t('notices:together.title', { title: first?.title ?? '', count: others.length }),
    body: messages.map(({ title, body }) => `▪️ ${title}\n${body}`).join('\n\n'),
  }
}

function buttonsOf(t: Translate, notices: readonly Envelope[]): readonly MessageButton[] {
  const all = new Map(
    notices
      .flatMap(({ buttons = [] }) => buttons.flat())
      .filter((button) => targetOf(button) !== CLOSE)
      .map((button) => [targetOf(button), button]),
  )
  const byLabel = [...Map.groupBy(all.values(), ({ label }) => label).values()]
  const clear = byLabel.flatMap((buttons) => (buttons.length === 1 ? buttons : []))
  const unclear = byLabel.flatMap((buttons) => (buttons.length === 1 ? [] : buttons))
  const general = new Map(
    unclear.map((button) => {
      const instead = insteadOf(t, button)
      return [targetOf(instead), instead]
    }),
  )
  for (const button of clear) general.delete(targetOf(button))
  return [...clear, ...general.values()]
}

/** Button that opens the screen with the subjects of an action; outside of chats the menu of the bot. */
function insteadOf(t: Translate, button: MessageButton): MessageButton {
  if ('url' in button) {
    const url = button.url.replace(/([?&]start=)\w+$/, '$1menu')
    return { label: t('notices:button.menu'), url }
  }
  return /^\d+:rec\./.test(button.act)
    ? { label: t('notices:button.recipients'), act: packed('rec.list') }
    : { label: t('notices:button.slots'), act: packed('slots') }
}

function targetOf(button: MessageButton): string {
  return 'url' in button ? button.url : button.act
}
