/**
 * How many buttons a screen may have, and where a button may destroy something. Every test with the bot checks the
 * number on every message that it caused; those that press every button check the rest.
 */
import { expect } from 'vitest'
import type { Call } from '#sandbox/telegram/model.ts'
import { unpacked, type Verb } from '#src/actions/codec.ts'

const BUTTONS_MAX = 6

/**
 * Verbs that pick one item of a list, or one value of a setting. This is the exception: all buttons of one such verb on a
 * screen count as one, and the three buttons that turn the pages of the list count with them.
 */
const LISTS: ReadonlySet<Verb> = new Set([
  // Things of the wallet, and what can be looked up.
  'watch.card',
  'signal.group',
  'signal.card',
  'rec.card',
  'mute.off',
  'wallet.use',
  'look.up',
  'status.provider',
  'stop.unlink',
  // What is ticked in a list.
  'watch.whoFlip',
  'watch.escFlip',
  'rec.hearFlip',
  'new.flip',
  'new.who',
  // What is offered: kinds, languages, zones, assets, pages of the help, values of a setting.
  'new.type',
  'new.pick',
  'new.set',
  'rec.kind',
  'rec.group',
  'rec.sev',
  'rec.langSet',
  'rec.zoneSet',
  'settings.langSet',
  'settings.zone',
  'settings.zoneSet',
  'settings.digest',
  'settings.quiet',
  'settings.remind',
  'settings.severity',
  'topup.asset',
  'topup.quote',
  'topup.buy',
  'slots.quote',
  'signal.all',
  'signal.set',
  'watch.set',
  'watch.muteFor',
  'watch.escAfter',
  'mute.all',
  'maintenance.add',
  'maintenance.card',
  'group.topic',
  'help',
])

/** Verbs that ask for a value which the list of another verb does not offer; they count with that list. */
const LISTS_OF_OTHERS: Readonly<Partial<Record<Verb, Verb>>> = {
  'new.ask': 'new.set',
  'signal.ask': 'signal.set',
}

/** A button of a message. */
interface ShownButton {
  readonly text: string
  readonly callback_data?: string | undefined
  readonly style?: string | undefined
}

type Keyboard = readonly (readonly ShownButton[])[]

/** The number of buttons of a message by the rule above. */
function countButtons(keyboard: Keyboard): number {
  const seen = new Set<Verb>()
  let count = 0
  for (const button of keyboard.filter((row) => !turnsPages(row)).flat()) {
    const pressed = verbOf(button)
    const verb = pressed && (LISTS_OF_OTHERS[pressed] ?? pressed)
    if (verb === undefined || !LISTS.has(verb)) count += 1
    else if (!seen.has(verb)) {
      seen.add(verb)
      count += 1
    }
  }
  return count
}

/** A row `‹ 2 / 5 ›`. */
function turnsPages(row: readonly ShownButton[]): boolean {
  return row.length === 3 && row.some((button) => verbOf(button) === 'none')
}

function verbOf({ callback_data: data }: ShownButton): Verb | undefined {
  return data === undefined ? undefined : unpacked(data)?.verb
}

/** Why a message has the wrong number of buttons; undefined if it has not. */
export function tooManyButtons(keyboard: Keyboard): string | undefined {
  const labels = keyboard.flat().map(({ text }) => text)
  if (countButtons(keyboard) > BUTTONS_MAX) return `more than ${BUTTONS_MAX}: ${labels.join(' | ')}`
  const primary = keyboard.flat().filter(({ style }) => style === 'primary')
  return primary.length > 1 ? `several are primary: ${labels.join(' | ')}` : undefined
}

/** Verbs that delete, unlink or replace something, or ask whether to. */
const DESTRUCTIVE: ReadonlySet<Verb> = new Set([
  'watch.delete',
  'watch.deleteYes',
  'rec.delete',
  'rec.deleteYes',
  'rec.rotate',
  'rec.rotateYes',
  'rec.keptDrop',
  'stop',
  'stop.unlink',
  'stop.data',
  'stop.dataYes',
])

/** What opens a screen below the first level, on which such a button may be: *More*, a question, and ways out. */
const BELOW: ReadonlySet<string> = new Set([
  'watch.more',
  'watch.delete',
  'rec.more',
  'rec.delete',
  'rec.rotate',
  'wallet.list',
  'wallet.page',
  'wallet.use',
  'group.settings',
  'help',
  'stop',
  'stop.data',
  'stop.unlink',
])

/**
 * The buttons of a screen that destroy something although the screen is on the first level.
 * @param openedBy verb of the press or name of the command that opened the screen
 */
export function destructiveOn(keyboard: Keyboard, openedBy: string): readonly string[] {
  if (BELOW.has(openedBy)) return []
  return keyboard
    .flat()
    .filter((button) => {
      const verb = verbOf(button)
      return button.style === 'danger' || (verb !== undefined && DESTRUCTIVE.has(verb))
    })
    .map(({ text }) => text)
}

/** A refusal above a screen, whose first row is the way out of it. The screen loses nothing by it. */
const REFUSAL = /^⚠️/u

/** Checks the keyboards of all messages that the bot sent or changed. */
export function expectFewButtons(calls: readonly Pick<Call, 'payload'>[]): void {
  for (const { payload } of calls) {
    const markup = payload['reply_markup'] as { readonly inline_keyboard?: Keyboard } | undefined
    const rows = markup?.inline_keyboard ?? []
    const isRefused = REFUSAL.test(String(payload['text'] ?? '')) && rows[0]?.length === 1
    expect(tooManyButtons(isRefused ? rows.slice(1) : rows)).toBeUndefined()
  }
}
