import { expect } from 'vitest'
import { isButtonHandled } from '#bot/core/verb-rights.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { unpacked, type Verb } from '#src/actions/codec.ts'
import { labelWidth } from '#src/telegram/buttons.ts'
import type { BotWorld, TestChat } from './bot.ts'
import { destructiveOn, tooManyButtons } from './few-buttons.ts'

const ROWS_MAX = 8
const LABEL_BUDGETS = [24, 16, 10]
const DATA_BYTES_MAX = 64
const TEXT_MAX = 4096
const CAPTION_MAX = 1024
const TOAST_MAX = 200

/**
 * Checks a message against every limit, in any language.
 * @param openedBy verb of the press, or name of the command, that the message answers; undefined for a message that an
 * event caused
 * @returns the verbs of its buttons
 */
export function checkScreen(message: ChatMessage, openedBy?: string): readonly Verb[] {
  const most = message.file === undefined ? TEXT_MAX : CAPTION_MAX
  expect(message.text.length).toBeLessThanOrEqual(most)
  expect(message.keyboard.length, message.text).toBeLessThanOrEqual(ROWS_MAX)
  expect(tooManyButtons(message.keyboard)).toBeUndefined()
  if (openedBy !== undefined) expect(destructiveOn(message.keyboard, openedBy)).toEqual([])
  return message.keyboard.flatMap((row) => {
    expect(row.length).toBeLessThanOrEqual(3)
    return row.flatMap(({ text, callback_data: data }) => {
      expect(labelWidth(text), text).toBeLessThanOrEqual(LABEL_BUDGETS[row.length - 1] ?? 0)
      if (data === undefined) return []
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(DATA_BYTES_MAX)
      const press = unpacked(data)
      expect(isButtonHandled(data), data).toBe(true)
      return press === undefined ? [] : [press.verb]
    })
  })
}

/** Data of a message's buttons. */
export function dataOf(message: ChatMessage): readonly string[] {
  return message.keyboard.flat().flatMap(({ callback_data: data }) => data ?? [])
}

/** Selection of the pressed buttons. */
interface Pressing {
  readonly world: Pick<BotWorld, 'clock' | 'telegram' | 'settle'>
  readonly chat: TestChat
  /** Verbs whose buttons are pressed; the others are only collected. */
  readonly only: RegExp
  /** Upper limit of the presses of one verb. */
  readonly sameMax: number
}

/**
 * Presses every button reachable from the newest message, each once, on the present newest message,
 * including those of the resulting messages.
 *
 * @returns the verbs seen
 */
export async function pressAll({ world, chat, only, sameMax }: Pressing): Promise<Set<Verb>> {
  const seen = new Set(checkScreen(chat.last()))
  const pressed = new Map<string, number>()
  const done = new Set<string>()
  const waiting = [...dataOf(chat.last())]
  for (let data = waiting.shift(); data !== undefined; data = waiting.shift()) {
    const verb = unpacked(data)?.verb ?? ''
    const count = pressed.get(verb) ?? 0
    if (done.has(data) || !only.test(verb) || count >= sameMax) continue
    done.add(data)
    pressed.set(verb, count + 1)
    world.clock.advance(5)
    const message =
      chat.all().findLast((message) => dataOf(message).includes(data ?? '')) ?? chat.last()
    const answer = world.telegram.pressRaw(chat.id, message.id, data)
    await world.settle()
    expect((await answer.answer()).text.length).toBeLessThanOrEqual(TOAST_MAX)
    for (const shown of [chat.last(), chat.all().find(({ id }) => id === message.id)]) {
      if (shown === undefined) continue
      for (const shownVerb of checkScreen(shown, verb)) seen.add(shownVerb)
      waiting.push(...dataOf(shown))
    }
  }
  return seen
}
