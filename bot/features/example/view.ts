import { argumentsOf, packed, unpacked } from '#src/actions/codec.ts'
import type { HelpPart } from '#src/actions/verbs.ts'
import { exampleEnvelope } from '#src/alerts/example.ts'
import type { Envelope, MessageState } from '#src/channels/envelope.ts'
import { alertView } from '#src/channels/telegram-alert.ts'
import { TEST_GLYPH } from '#src/channels/wording.ts'
import { HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { findEventSource } from '#src/watches/events.ts'
import { act, back, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { HELP_TOPICS } from '../alerts/card-view.ts'

/** The example's event: the most frequent reason why operators of data providers come. */
const EVENT = 'fsp.ftso-commit'
/** A made-up id, in the form of real ones. */
const ALERT_ID = 4711
const WATCH_ID = 42
/** Age of a new example: two voting rounds, and the time until both can be judged. */
const AGE_MS = 5 * MINUTE_MS
/** Length of a voting round. */
const ROUND_MS = 90_000
const MUTE_MS = HOUR_MS

/** State of an example: stored only in its buttons. */
export interface ExampleState {
  /** Time at which it was opened; all its times are relative to it. */
  readonly openedAt: Date
  readonly acknowledged: boolean
  readonly muted: boolean
  readonly help: HelpPart | undefined
}

/** End of the mute in an example. */
export function exampleMuteEnd({ openedAt }: Pick<ExampleState, 'openedAt'>): Date {
  return new Date(openedAt.getTime() + MUTE_MS)
}

/**
 * A made-up alert: texts and buttons of real ones, with the data of the signal's example. Nothing is
 * stored; a press shows the example as a real message would be after it.
 *
 * @param options `by`: name of the reader. `pages`: URL of the service's pages
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
  // Without the bot's name: its watch has no link, because its id does not exist.
  const view = alertView(envelopeOf(reader, openedAt, options.pages), shown, { now: openedAt })
  const rows = view.rows.map((row) => row.flatMap((button) => exampleButton(button, state)))
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

/** Number of rounds between the signal's own example and this one, and its time. */
function placeOf(openedAt: Date): { readonly rounds: number; readonly firedAt: Date } {
  const own = Date.parse(String(findEventSource(EVENT)?.signal.examples[EVENT]?.['since']))
  const rounds = Math.floor((openedAt.getTime() - AGE_MS - own) / ROUND_MS)
  return { rounds, firedAt: new Date(own + rounds * ROUND_MS) }
}

/** Shifts the times and round numbers of the data. */
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

/** The example's form of a real alert's button; those that need a real alert are omitted. */
function exampleButton(button: Button, state: ExampleState): readonly Button[] {
  if (!('data' in button)) return [button]
  const part = partOf(button.data)
  return part === undefined ? [] : [act(button.label, exampleData(part, state))]
}

type ExamplePart = 'a' | 'm' | HelpPart

/** The part of the example that a real button toggles. */
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
