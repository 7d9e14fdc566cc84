import { setTimeout as wait } from 'node:timers/promises'
import type { ChatMessage } from '../telegram/model.ts'
import type { WorldParts } from '../world/parts.ts'
import { secondsSince } from './define.ts'

/** How to recognize the alerts that a scenario causes. */
export interface AlertMatcher {
  /** The text in chats and mails contains one of these words. */
  readonly words: readonly string[]
  /** The event in webhooks begins with one of these prefixes. */
  readonly events: readonly string[]
}

/** How long to wait for further alerts after the first one. */
const FURTHER_ALERTS_MS = 5000

/**
 * Runs an action, and reports once for each chat, mailbox and hook that an alert about it arrived, after what the
 * action itself reports. Waits for the first alert until the signal aborts.
 */
export async function runAndReportAlerts(
  world: WorldParts,
  kind: AlertMatcher,
  { note, signal }: { readonly note: (text: string) => void; readonly signal: AbortSignal },
  act: () => Promise<void>,
): Promise<void> {
  const first = Promise.withResolvers<void>()
  const acted = Promise.withResolvers<void>()
  let start = performance.now()
  const seen = new Set<string>()
  const stopListening = listenForAlerts(world, kind, (where) => {
    if (seen.has(where)) return
    seen.add(where)
    const after = secondsSince(start)
    void acted.promise.then(() => note(`alert ${where} after ${after}`))
    first.resolve()
  })
  const giveUp = () => first.resolve()
  try {
    start = performance.now()
    await act()
    acted.resolve()
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    await first.promise
    await wait(FURTHER_ALERTS_MS, undefined, { signal }).catch(() => undefined)
  } finally {
    signal.removeEventListener('abort', giveUp)
    stopListening()
  }
  if (seen.size === 0) note('no alert arrived: nobody watches this, or something is down')
}

/** Address of the page of an alert, to which every alert has a button. */
const ALERT_PAGE = /\/a\/[\w-]+/

/** Whether a message is an alert or a recovery. A recovery replies to its alert. */
function isAlert({ keyboard, replyTo }: Pick<ChatMessage, 'keyboard' | 'replyTo'>): boolean {
  return replyTo !== undefined || keyboard.flat().some(({ url = '' }) => ALERT_PAGE.test(url))
}

/** Calls `found` with the place of every received alert. The returned function ends that. */
function listenForAlerts(
  { telegram, inbox, receiver }: WorldParts,
  { words, events }: AlertMatcher,
  reportFound: (where: string) => void,
): () => void {
  const isAbout = (text: string) => words.some((word) => text.includes(word))
  const mailsBefore = inbox.mails.length
  const deliveriesBefore = receiver.deliveries.length
  const ends = [
    telegram.onChange((change) => {
      if (change.kind !== 'message') return
      const { message } = change
      const { chatId, from, text, editedAt } = message
      if (from !== telegram.bot.id || editedAt !== undefined) return
      if (!isAbout(text) || !isAlert(message)) return
      const chat = telegram.chat(chatId)
      reportFound(
        chat.type === 'private' ? `in ${chat.person.firstName}’s chat` : `in “${chat.title}”`,
      )
    }),
    inbox.subscribe(() => {
      for (const mail of inbox.mails.slice(mailsBefore)) {
        if (isAbout(`${mail.subject} ${mail.text ?? ''}`))
          reportFound(`in the mailbox of ${mail.to}`)
      }
    }),
    receiver.subscribe(() => {
      for (const { headers, hook } of receiver.deliveries.slice(deliveriesBefore)) {
        const event = `${headers['x-watchdog-event']}`
        if (events.some((prefix) => event.startsWith(prefix))) reportFound(`at the hook “${hook}”`)
      }
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}
