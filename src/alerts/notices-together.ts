/** Several notices for one reader in one message. Pure. */
import { packed } from '#src/actions/codec.ts'
import type { Envelope, MessageButton } from '#src/channels/envelope.ts'
import { rankOf } from '#src/channels/wording.ts'
import type { Translate } from '#src/i18n/translate.ts'

const CLOSE = packed('close')
/** Maximum number of notices in one message. */
const NOTICES_MAX = 8
/** Maximum number of characters of notices in one message; every channel shows that many. */
const CHARACTERS_MAX = 3000

/** Distributes notices over messages, in order, so that none is cut. */
export function inMessages<Row extends { readonly envelope: Envelope }>(
  rows: readonly Row[],
): readonly (readonly [Row, ...Row[]])[] {
  const messages: [Row, ...Row[]][] = []
  let length = 0
  for (const row of rows) {
    const { title, body } = row.envelope.message
    const own = title.length + body.length
    const last = messages.at(-1)
    if (last === undefined || last.length >= NOTICES_MAX || length + own > CHARACTERS_MAX) {
      messages.push([row])
      length = own
    } else {
      last.push(row)
      length += own
    }
  }
  return messages
}

/**
 * Joins notices to one. The notice of the highest severity gives the heading; every other notice is a
 * separate line with its sentences.
 *
 * A button that occurs once stays. Several buttons with the same label are replaced by one button that
 * opens the recipients or slots. No button deletes the message.
 */
export function noticesTogether(
  t: Translate,
  notices: readonly [Envelope, ...Envelope[]],
  deliveryId: string,
): Envelope {
  const [oldest, ...later] = notices
  const worst = later.reduce(
    (envelope, other) => (rankOf(other.message) > rankOf(envelope.message) ? other : envelope),
    oldest,
  )
  if (later.length === 0) return { ...oldest, deliveryId }
  const others = notices.filter((notice) => notice !== worst)
  const buttons = buttonsOf(t, [worst, ...others])
  return {
    ...worst,
    deliveryId,
    message: {
      ...worst.message,
      title: `${worst.message.title} · ${t('notices:more', { count: others.length })}`,
      body: [
        worst.message.body,
        ...others.map(({ message }) => `▪️ ${message.title}\n${message.body}`),
      ].join('\n\n'),
    },
    buttons: buttons.length === 0 ? [] : [buttons],
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
