import { argumentsOf, packed, unpacked } from '#src/actions/codec.ts'
import type { HelpPart } from '#src/actions/verbs.ts'
import { exampleEnvelope } from '#src/alerts/example.ts'
import type { Envelope, MessageState } from '#src/channels/define.ts'
import { alertView } from '#src/channels/telegram-alert.ts'
import type { ChatButton } from '#src/channels/telegram-keyboard.ts'
import { TEST_GLYPH } from '#src/channels/wording.ts'
import { HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import {
  act,
  type Button,
  back,
  menuButton,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { HELP_TOPICS } from '../alerts/card-view.ts'

/** What most of those who run a data provider come for. */
const EVENT = 'fsp.ftso-commit'
/** Made up, as the numbers of real alerts and watches look. */
const ALERT_ID = 4711
const WATCH_ID = 42
/** An example is first seen when it has lasted so long: two voting rounds, and until both can be judged. */
const AGE_MS = 5 * MINUTE_MS
/** A voting round. */
const ROUND_MS = 90_000
const MUTE_MS = HOUR_MS

/** What became of an example: its buttons carry it, nothing else keeps it. */
export interface ExampleState {
  /** When it was opened; all its times are counted from then. */
  readonly openedAt: Date
  readonly acknowledged: boolean
  readonly muted: boolean
  readonly help: HelpPart | undefined
}

/** Until when an example's watch would be muted. */
export function exampleMuteEnd({ openedAt }: Pick<ExampleState, 'openedAt'>): Date {
  return new Date(openedAt.getTime() + MUTE_MS)
}

/**
 * An alert that nobody has: the words and buttons of real ones, with the data of the signal's example.
 * Nothing is stored; a press shows the example as a real message would be after it.
 *
 * @param options `by`: what the reader is called. `pages`: where the service's pages are
 */
export function exampleAlert(
  reader: Reader,
  state: ExampleState,
  options: { readonly by: string | null; readonly isLinked: boolean; readonly pages: string },
): View {
  const { t } = reader
  const { openedAt, help } = state
  const shown: MessageState = {
    ...(state.acknowledged && { acknowledged: { at: openedAt, by: options.by } }),
    ...(state.muted && { muted: { until: exampleMuteEnd(state) } }),
    ...(help !== undefined && { help: HELP_TOPICS[help] }),
  }
  // Without the bot's name: its watch is no link, there is none with this number.
  const view = alertView(envelopeOf(reader, openedAt, options.pages), shown, { now: openedAt })
  const rows = view.keyboard.map((row) => row.flatMap((button) => exampleButton(button, state)))
  const connect = act(t('bot:button.connect'), packed('connect', { spend: false }), 'primary')
  return screen(
    [`${TEST_GLYPH} ${t.html('bot:example.title')}`, '', view.html],
    [
      ...rows,
      options.isLinked ? [] : [connect],
      [options.isLinked ? menuButton(t) : back(t('bot:button.back'), packed('home'))],
    ],
  )
}

function envelopeOf({ t, timezone }: Reader, openedAt: Date, publicUrl: string): Envelope {
  const { rounds, firedAt } = placeOf(openedAt)
  return exampleEnvelope(
    EVENT,
    { locale: t.locale, timezone },
    {
      severity: 'warning',
      firedAt,
      publicUrl,
      ids: { alertId: ALERT_ID, watchId: WATCH_ID },
      data: (example) => moved(example, rounds),
    },
  )
}

/** So many rounds after the signal's own example it begins, and when that is. */
function placeOf(openedAt: Date): { readonly rounds: number; readonly firedAt: Date } {
  const own = Date.parse(String(findEventSource(EVENT)?.signal.examples[EVENT]?.['since']))
  const rounds = Math.floor((openedAt.getTime() - AGE_MS - own) / ROUND_MS)
  return { rounds, firedAt: new Date(own + rounds * ROUND_MS) }
}

/** The data so many voting rounds later: its times, and the numbers of its rounds. */
function moved(data: JsonObject, rounds: number): JsonObject {
  const entries = Object.entries(data).map(([name, value]) => {
    if (ROUND_NUMBERS.has(name)) return [name, Number(value) + rounds]
    const isInstant = typeof value === 'string' && INSTANT.test(value)
    return [name, isInstant ? later(value, rounds) : value]
  })
  return Object.fromEntries(entries)
}

function later(instant: string, rounds: number): string {
  return new Date(Date.parse(instant) + rounds * ROUND_MS).toISOString()
}

const ROUND_NUMBERS: ReadonlySet<string> = new Set(['votingRoundId', 'firstRoundId'])
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** A button of a real alert as the example has it; those that would need a real one are left out. */
function exampleButton(button: ChatButton, state: ExampleState): readonly Button[] {
  if ('url' in button) return [{ label: button.text, url: button.url }]
  const part = partOf(button.callback_data)
  return part === undefined ? [] : [act(button.text, exampleData(part, state))]
}

type ExamplePart = 'a' | 'm' | HelpPart

/** What a press of a real button is about, as far as the example has it. */
function partOf(data: string): ExamplePart | undefined {
  const press = unpacked(data)
  switch (press?.verb) {
    case 'alert.ack':
    case 'alert.unack':
      return 'a'
    case 'watch.unmute':
      return 'm'
    case 'alert.mute':
      return press.args['duration'] === '1h' ? 'm' : undefined
    case 'alert.help':
      return argumentsOf<'alert.help'>({ verb: 'alert.help', args: press.args }).part
    default:
      return undefined
  }
}

function exampleData(part: ExamplePart, state: ExampleState): string {
  const { openedAt, acknowledged, muted, help } = state
  const opened = Math.floor(openedAt.getTime() / 1000)
  return packed('demo', { part, opened, acknowledged, muted, help })
}

/** The button that opens an example. */
export function exampleStart(label: string): Button {
  const fresh = { opened: undefined, acknowledged: false, muted: false, help: undefined }
  return act(label, packed('demo', { part: 's', ...fresh }))
}
