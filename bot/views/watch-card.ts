import { id, typed } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import { packed } from '../callback-data.ts'
import { clockTime, nearTime } from './time.ts'
import { type Button, back, labelWithName, type Reader, screen, type View } from './view.ts'
import { GLYPHS, isMuted, standingOf } from './watch-state.ts'
import { typeLines, typeName } from './watch-types.ts'

interface CardOptions {
  readonly now: Date
  /** What the reader may press: nothing at all, only what looks, or also what changes. */
  readonly rights: 'none' | 'read' | 'write'
  /** A line about what has just happened: HTML. */
  readonly notice?: string
}

/** One watch: what it looks at, when it alerts, how it stands. */
export function watchCard(reader: Reader, watch: Watch, options: CardOptions): View {
  const { t } = reader
  const { now, rights, notice } = options
  const glyph = GLYPHS[standingOf(watch, now)]
  const lines = [
    `${glyph} ${t.html('bot:watch.title', { label: typed(watch.label) })}`,
    headLine(reader, watch),
    ...typeLines(reader, watch),
    ...stateLines(reader, watch, now),
    notice,
    rights === 'read' ? t.html('bot:chat.receiveOnly') : undefined,
  ]
  const last: readonly Button[] = [
    back(t('bot:button.watches'), packed('watch.list', { page: 1 })),
    { label: t('bot:button.refresh'), data: packed('watch.card', { id: watch.id }) },
  ]
  const rows = rights === 'write' ? [changes(reader, watch), last] : [last]
  return screen(lines, rights === 'none' ? [] : rows)
}

function headLine(reader: Reader, watch: Watch): string {
  const { t } = reader
  const values = { type: typeName(t, watch.type), number: id(`#${watch.id}`) }
  if (watch.lastEvaluatedAt === null) return t.html('bot:watch.headUnchecked', values)
  const time = clockTime(reader, watch.lastEvaluatedAt, { seconds: true })
  return t.html('bot:watch.head', { ...values, time })
}

/** One line for everything that is not as usual, each with its sign. */
function stateLines(reader: Reader, watch: Watch, now: Date): readonly string[] {
  const { t } = reader
  const lines: string[] = []
  const since = watch.signalStates.find(({ state }) => state === 'firing')?.since
  if (since) {
    const firing = t.html('bot:watch.firing', { since: nearTime(reader, since, now) })
    lines.push(`${GLYPHS.firing} ${firing}`)
  }
  if (watch.status === 'active' && watch.health === 'no_data') {
    lines.push(`${GLYPHS.noData} ${noData(reader, watch, now)}`)
  }
  if (watch.status === 'suspended') {
    lines.push(`${GLYPHS.suspended} ${t.html('bot:watch.suspended')}`)
  }
  if (watch.status === 'paused') lines.push(`${GLYPHS.paused} ${t.html('bot:watch.paused')}`)
  if (isMuted(watch, now) && watch.mutedUntil !== null) {
    const muted = t.html('bot:watch.muted', { until: nearTime(reader, watch.mutedUntil, now) })
    lines.push(`${GLYPHS.muted} ${muted}`)
  }
  return lines
}

function noData(reader: Reader, watch: Watch, now: Date): string {
  const since = watch.lastEvaluatedAt
  return since === null
    ? reader.t.html('bot:watch.noDataYet')
    : reader.t.html('bot:watch.noData', { since: nearTime(reader, since, now) })
}

function changes({ t }: Reader, watch: Watch): readonly Button[] {
  const { id: watchId } = watch
  const remove: Button = {
    label: t('bot:button.delete'),
    data: packed('watch.delete', { id: watchId }),
  }
  if (watch.status === 'suspended') return [remove]
  const isPaused = watch.status === 'paused'
  const pause: Button = isPaused
    ? {
        label: t('bot:button.resume'),
        data: packed('watch.resume', { id: watchId }),
        style: 'primary',
      }
    : { label: t('bot:button.pause'), data: packed('watch.pause', { id: watchId }) }
  return [pause, remove]
}

/** Asks once, with the name of what goes. */
export function deleteQuestion({ t }: Reader, watch: Watch): View {
  const lines = [
    t.html('bot:delete.question', { label: typed(watch.label) }),
    t.html('bot:delete.effect'),
  ]
  return screen(lines, [
    [
      {
        label: labelWithName(watch.label, (name) =>
          t('bot:button.deleteWatch', { label: typed(name) }),
        ),
        data: packed('watch.deleteYes', { id: watch.id }),
        style: 'danger',
      },
    ],
    [back(t('bot:button.keep'), packed('watch.card', { id: watch.id }))],
  ])
}
