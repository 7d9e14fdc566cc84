import { type ArgumentsOf, packed, unpacked } from '#src/actions/codec.ts'
import type { PartCode } from '#src/actions/verbs.ts'
import { type ExampleKind, recentExample } from '#src/alerts/messages/example.ts'
import { TEST_GLYPH } from '#src/channels/card/wording.ts'
import type { MessageState } from '#src/channels/envelope.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { PART_OF_CODE } from '#src/channels/telegram/buttons.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { type ExamplePart, partOfKind, WALLET_PARTS } from '../../views/example-start.ts'
import { act, back, menuButton, type Reader, screen, type View } from '../../views/view.ts'

const MUTE_MS = HOUR_MS

/** State of an example: stored only in its buttons. */
export interface ExampleState {
  readonly kind: ExampleKind
  /** Time at which the example was opened; all times in the example are relative to this time. */
  readonly openedAt: Date
  readonly acknowledged: boolean
  readonly muted: boolean
  readonly open: PartCode | undefined
}

/** End of the mute in an example. */
export function exampleMuteEnd({ openedAt }: Pick<ExampleState, 'openedAt'>): Date {
  return new Date(openedAt.getTime() + MUTE_MS)
}

/**
 * An example alert: texts and buttons of a real one, with the data of the signal's example. Nothing is
 * stored; a press changes the example as it would change a real message.
 *
 * @param options `by`: name of the reader. `pages`: URL of the service's pages
 */
export function exampleAlert(
  reader: Reader,
  state: ExampleState,
  options: { readonly by: string | null; readonly isLinked: boolean; readonly pages: string },
): View {
  const { t } = reader
  const { openedAt, open } = state
  const shown: MessageState = {
    ...(state.acknowledged && { acknowledged: { at: openedAt, by: options.by } }),
    ...(state.muted && { muted: { until: exampleMuteEnd(state) } }),
    ...(open !== undefined && { open: PART_OF_CODE[open] }),
  }
  // The bot's name is omitted, so that the watch has no link; a watch with this id does not exist.
  const place = { locale: t.locale, timezone: reader.timezone }
  const envelope = recentExample(place, {
    openedAt,
    publicUrl: options.pages,
    kind: state.kind,
  })
  const view = alertView(envelope, shown, { now: openedAt })
  const rows = view.rows.map((row) => row.flatMap((button) => exampleButton(button, state)))
  const connect = act(t('bot:button.connect'), packed('connect', { spend: false }), 'primary')
  const waysOn = [
    options.isLinked ? [] : [connect],
    [options.isLinked ? menuButton(t) : back(t('bot:button.back'), packed('home'))],
  ]
  return screen(
    [`${TEST_GLYPH} ${t.html('bot:example.title')}`, '', view.html],
    // The opened ways to mute have a way back of their own.
    open === 'm' ? rows : [...rows, ...waysOn],
  )
}

/**
 * The button of the example that corresponds to a real alert's button; buttons that need a real alert are
 * omitted.
 */
function exampleButton(button: Button, state: ExampleState): readonly Button[] {
  if (!('data' in button)) return [button]
  const part = partOf(button.data)
  return part === undefined ? [] : [act(button.label, exampleData(part, state))]
}

/** The part of the example that the button of a real alert would change. */
function partOf(data: string): ExamplePart | undefined {
  const press = unpacked(data)
  switch (press?.verb) {
    case 'alert.ack':
    case 'alert.unack':
      return 'a'
    case 'watch.unmute':
      return 'q'
    case 'alert.mute':
      return press.args.duration === '1h' ? 'q' : undefined
    case 'alert.open': {
      // Two buttons below the example lead on, so that the further help has no room.
      const { part } = press.args
      return part === 'd' || part === 'm' ? part : undefined
    }
    default:
      return undefined
  }
}

function exampleData(part: ExamplePart, state: ExampleState): string {
  const { kind, openedAt, acknowledged, muted, open } = state
  const opened = Math.floor(openedAt.getTime() / 1000)
  return packed('demo', { part: partOfKind(part, kind), opened, acknowledged, muted, open })
}

/** The kind of example and the part that a press names. */
export function pressedPart(part: ArgumentsOf<'demo'>['part']): {
  readonly kind: ExampleKind
  readonly part: ExamplePart
} {
  const small = EXAMPLE_PARTS.find((candidate) => WALLET_PARTS[candidate] === part)
  if (small !== undefined) return { kind: 'wallet', part: small }
  return { kind: 'provider', part: EXAMPLE_PARTS.find((candidate) => candidate === part) ?? 's' }
}

const EXAMPLE_PARTS = ['s', 'a', 'q', 'm', 'd'] as const
