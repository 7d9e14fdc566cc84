import { packed } from '#src/actions/codec.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { nameList } from '#src/i18n/name-list.ts'
import { checkedKey, id, typed } from '#src/i18n/translate.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { titleAfterWatchName } from '#src/kernel/title-after-watch-name.ts'
import { Address } from '#src/kernel/units.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { STALE_CHAIN_MS } from '#src/watches/outage/monitoring.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import { ALL_ASSETS } from '#src/watches/types/own-coin.ts'
import { fieldLabel, fieldsOf, type SettingWithOwner, valueText } from '../../views/fields.ts'
import { linkHtml } from '../../views/markup.ts'
import { clockTime, nearTime } from '../../views/time.ts'
import { act, back, deepLink, inRows, type Reader, screen, type View } from '../../views/view.ts'
import { factsOf, formOf, propertyOf, typeLine, typeName } from '../../views/watch-facts.ts'
import {
  glyphOf,
  isMuted,
  SEVERITY_GLYPHS,
  STATUS_GLYPHS,
  severityOf,
} from '../../views/watch-state.ts'
import { signalsSummary } from '../signals/view.ts'
import { backToCard, currentValue, severityButton, severityLine } from './edit-view.ts'

/** The newest alert of a watch on its card. */
export interface LastAlert {
  readonly id: number
  readonly title: string
  readonly startedAt: Date
  /** Whether the alert's episode is open. */
  readonly isOpen: boolean
}

/** Data of a watch's card. */
export interface CardData {
  readonly watch: Watch
  /** Names of the watch's recipients, this chat first; undefined where they are private. */
  readonly notifies: readonly string[] | undefined
  readonly lastAlert: LastAlert | undefined
  /** Public name of the watch's provider. */
  readonly providerName: string | undefined
}

export interface CardOptions {
  readonly now: Date
  /** Buttons for the reader: none, only buttons that change nothing, or all buttons. */
  readonly rights: 'none' | 'read' | 'write'
  /** Line about the last action: HTML. */
  readonly notice?: string
}

/** Card of one watch: target, rule, state. */
export function watchCard(reader: Reader, data: CardData, options: CardOptions): View {
  const { t } = reader
  const { watch } = data
  const { now, rights, notice } = options
  const lines = [
    titleLine(reader, watch, now),
    headLine(reader, watch),
    typeLine(reader, { ...watch, providerName: data.providerName }, 'target', now),
    typeLine(reader, watch, 'now', now),
    typeLine(reader, watch, 'rule', now),
    hasSignals(watch) ? signalsSummary(reader, watch) : undefined,
    ...stateLines(reader, watch, now),
    notifiesLine(reader, data),
    lastAlertLine(reader, data, now),
    staleLine(reader, watch, now),
    notice,
    rights === 'read' ? t.html('bot:chat.receiveOnly') : undefined,
  ]
  const toList = back(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  const rows =
    rights === 'write'
      ? changes(reader, data, now, toList)
      : [[toList, ...pictureButton(reader, watch)]]
  return screen(lines, rights === 'none' ? [] : rows)
}

/** Button that opens the picture of the watch's provider; empty if the watch has no provider. */
function pictureButton({ t }: Reader, { target }: Watch): readonly Button[] {
  const address = Address.safeParse(propertyOf(target, 'provider'))
  if (!address.success) return []
  const data = packed('status.provider', { address: address.data })
  return [act(t('bot:button.picture'), data)]
}

/**
 * Whether the watch has a separate screen for signals, because its type has no settings, and several signals or a signal
 * with parameters. The settings of other types decide which signals a watch has.
 */
function hasSignals(watch: Pick<Watch, 'type'>): boolean {
  const signals = findWatchType(watch.type)?.signals ?? []
  if (fieldsOf(watch.type).length > 0) return false
  return signals.length > 1 || signals.some(({ parameters }) => parameters.length > 0)
}

function titleLine(reader: Reader, watch: Watch, now: Date): string {
  const { t } = reader
  const glyph = glyphOf(watch, now)
  const title = t.html('bot:watch.title', { label: typed(watch.label) })
  const since = firingSince(watch)
  if (since === undefined) return `${glyph} ${title}`
  const duration = durationSince(reader, since, now)
  return `${glyph} ${t.html('bot:watch.titleFiring', { label: typed(watch.label), duration })}`
}

/** Start of the most severe firing. */
function firingSince(watch: Watch): Date | undefined {
  const worst = severityOf(watch)
  const open = watch.signalStates.filter(
    ({ state, severity }) => state === 'firing' && (severity ?? 'warning') === worst,
  )
  const starts = open.flatMap(({ since }) => (since === null ? [] : [since.getTime()]))
  return starts.length === 0 ? undefined : new Date(Math.min(...starts))
}

function durationSince({ t }: Reader, since: Date, now: Date): string {
  return formatDuration((now.getTime() - since.getTime()) / 1000, t.locale, 'short')
}

function headLine(reader: Reader, watch: Watch): string {
  const { t } = reader
  const values = { type: typeName(t, watch.type), number: id(`#${watch.id}`) }
  if (watch.lastEvaluatedAt === null) return t.html('bot:watch.headUnchecked', values)
  const time = clockTime(reader, watch.lastEvaluatedAt, { seconds: true })
  return t.html('bot:watch.head', { ...values, time })
}

/** One line for each unusual state, with its emoji. */
function stateLines(reader: Reader, watch: Watch, now: Date): readonly string[] {
  const { t } = reader
  const lines: string[] = []
  const add = (glyph: string, text: string) => lines.push(`${glyph} ${text}`)
  const since = firingSince(watch)
  if (since !== undefined) {
    const severity = severityOf(watch)
    const values = { severity: t(`bot:severity.${severity}`), since: nearTime(reader, since, now) }
    add(SEVERITY_GLYPHS[severity], t.html('bot:watch.firing', values))
  }
  if (watch.status === 'active' && watch.health === 'no_data') {
    add(STATUS_GLYPHS.noData, noData(reader, watch, now))
  } else if (isBaseline(watch)) {
    add(
      STATUS_GLYPHS.fine,
      t.html('bot:watch.baseline', { time: baselineTime(reader, watch, now) }),
    )
  }
  if (watch.status === 'suspended') add(STATUS_GLYPHS.suspended, t.html('bot:watch.suspended'))
  if (watch.status === 'paused') add(STATUS_GLYPHS.paused, t.html('bot:watch.paused'))
  if (isMuted(watch, now) && watch.mutedUntil !== null) {
    const until = nearTime(reader, watch.mutedUntil, now)
    add(STATUS_GLYPHS.muted, t.html('bot:watch.muted', { until }))
  }
  return lines
}

/** Whether the watch was evaluated only once, so that its observation is only the baseline. */
function isBaseline({ status, signalStates, createdAt, lastEvaluatedAt }: Watch): boolean {
  if (status !== 'active' || lastEvaluatedAt === null) return false
  const isFirst = signalStates.every(
    ({ state, since, lastEvidenceAt }) =>
      state === 'ok' && since !== null && since.getTime() === lastEvidenceAt?.getTime(),
  )
  return isFirst && lastEvaluatedAt.getTime() - createdAt.getTime() < BASELINE_MS
}

/** Time for which a new watch shows a hint about its baseline. */
const BASELINE_MS = 10 * MINUTE_MS

function baselineTime(reader: Reader, watch: Watch, now: Date) {
  const [first] = watch.signalStates
  return nearTime(reader, first?.since ?? watch.createdAt, now)
}

function noData(reader: Reader, watch: Watch, now: Date): string {
  const since = watch.lastEvaluatedAt
  return since === null
    ? reader.t.html('bot:watch.noDataYet')
    : reader.t.html('bot:watch.noData', { since: nearTime(reader, since, now) })
}

function notifiesLine({ t }: Reader, { notifies }: CardData): string | undefined {
  if (notifies === undefined) return undefined
  if (notifies.length === 0) return `⚠️ ${t.html('bot:watch.tellsNobody')}`
  return t.html('bot:watch.tells', { names: nameList(notifies, t.locale) })
}

function lastAlertLine(
  reader: Reader,
  { lastAlert, watch }: CardData,
  now: Date,
): string | undefined {
  if (lastAlert === undefined) return undefined
  const link = deepLink(reader, `a${lastAlert.id}`)
  return reader.t.html('bot:watch.lastAlert', {
    time: nearTime(reader, lastAlert.startedAt, now),
    title: linkHtml(titleAfterWatchName(watch.label, lastAlert.title), link),
  })
}

/** Line about outdated data, unless another line says so. */
function staleLine(reader: Reader, watch: Watch, now: Date): string | undefined {
  const { lastEvaluatedAt, status, health } = watch
  if (lastEvaluatedAt === null || status !== 'active' || health === 'no_data') return undefined
  const isChain = findWatchType(watch.type)?.reads === 'chain'
  const behindMs = now.getTime() - lastEvaluatedAt.getTime()
  if (!isChain || behindMs < STALE_CHAIN_MS) return undefined
  const values = {
    time: nearTime(reader, lastEvaluatedAt, now),
    duration: formatDuration(behindMs / 1000, reader.t.locale, 'short'),
  }
  return `${STATUS_GLYPHS.noData} ${reader.t.html('bot:watch.stale', values)}`
}

function changes(reader: Reader, data: CardData, now: Date, toList: Button): Rows {
  const { t } = reader
  const { watch } = data
  const params = { id: watch.id }
  const more = act(t('bot:button.more'), packed('watch.more', params))
  if (watch.status === 'suspended') {
    const getSlot = act(t('bot:button.getSlot'), packed('slots'), 'primary')
    return [reader.isGroup ? [] : [getSlot], [toList, more]]
  }
  return [
    [alertsButton(reader, data), quietButton(reader, watch, now)],
    [
      hasSignals(watch)
        ? act(t('bot:button.signals'), packed('signal.list', params))
        : act(t('bot:button.rule'), packed('watch.rule', params)),
      recipientsButton(reader, data),
    ],
    [toList, more],
  ]
}

/** Button to the open alert, or to all alerts of the watch. */
function alertsButton({ t }: Reader, { watch, lastAlert }: CardData): Button {
  if (lastAlert?.isOpen) {
    return act(t('bot:button.openAlert'), packed('alert.card', { id: lastAlert.id }), 'primary')
  }
  const filter = { time: 'all', watchId: watch.id } as const
  return act(t('bot:button.alerts'), packed('alert.list', { filter, cursor: undefined }))
}

function recipientsButton({ t }: Reader, { watch, notifies, lastAlert }: CardData): Button {
  const data = packed('watch.who', { id: watch.id, page: 1 })
  if (notifies?.length !== 0) return act(t('bot:button.recipients'), data)
  return act(t('bot:button.choose'), data, lastAlert?.isOpen ? undefined : 'primary')
}

/** Button that mutes the watch, or ends its silence. */
function quietButton({ t }: Reader, watch: Watch, now: Date): Button {
  const params = { id: watch.id }
  if (watch.status === 'paused') {
    return act(t('bot:button.resume'), packed('watch.resume', params))
  }
  return isMuted(watch, now)
    ? act(t('bot:button.unmute'), packed('watch.unmute', params))
    : act(t('messages:button.mute'), packed('watch.mute', params))
}

/** Screen of the rule of a watch without a screen for signals: its settings. */
export function ruleCard(reader: Reader, watch: Watch): View {
  const { t } = reader
  const own = fieldsOf(watch.type).filter((owned) => isInUse(watch, owned))
  const others = fieldsOf(watch.type).filter((owned) => isRuleOff(watch, owned))
  const values = own.map((owned) => valueLine(reader, watch, owned))
  return screen(
    [
      t.html('bot:edit.title', { field: t('bot:button.rule'), label: typed(watch.label) }),
      ...values,
    ],
    [
      own.map((owned) =>
        act(fieldLabel(t, owned), packed('watch.edit', { id: watch.id, field: owned.field.code })),
      ),
      ...inRows(
        others.map((owned) =>
          act(
            t(checkedKey(`bot:rule.${watch.type}.${owned.field.key}`)),
            packed('watch.edit', { id: watch.id, field: owned.field.code }),
          ),
        ),
        2,
      ),
      [backToCard(watch)],
    ],
  )
}

/** Whether a setting belongs to a rule that the watch has. */
function isInUse({ type, settings }: Watch, { field }: SettingWithOwner): boolean {
  const rule = formOf(type)?.rules?.find(({ fields }) => fields.includes(field.key))
  return rule === undefined || (propertyOf(settings, rule.fields[0]) ?? null) !== null
}

/** Whether a setting is that of a rule with one setting which the watch does not have. */
function isRuleOff(watch: Watch, owned: SettingWithOwner): boolean {
  const isSole = formOf(watch.type)?.rules?.some(
    ({ fields: [first, ...more] }) => first === owned.field.key && more.length === 0,
  )
  const isPossible =
    owned.field.key !== 'daysLeft' || propertyOf(watch.target, 'asset') !== ALL_ASSETS
  return isSole === true && isPossible && !isInUse(watch, owned)
}

function valueLine(reader: Reader, watch: Watch, owned: SettingWithOwner): string {
  const { t } = reader
  const value = valueText(reader, owned, currentValue(watch, owned), factsOf(watch))
  return t.html('bot:more.value', { field: fieldLabel(t, owned), value })
}

/** Rarely needed actions, and deletion. */
export function moreCard(reader: Reader, watch: Watch, options: { readonly now: Date }): View {
  const { t } = reader
  const params = { id: watch.id }
  const since = nearTime(reader, watch.createdAt, options.now)
  const pause =
    watch.status === 'active'
      ? [act(t('bot:button.pause'), packed('watch.pause', params))]
      : watch.status === 'paused'
        ? [act(t('bot:button.resume'), packed('watch.resume', params))]
        : []
  const hasRule = fieldsOf(watch.type).length > 0
  return screen(
    [
      t.html('bot:more.title', { label: typed(watch.label) }),
      t.html('bot:more.since', { since }),
      ...(hasRule ? [severityLine(reader, watch)] : []),
    ],
    [
      [
        act(t('bot:button.name'), packed('watch.ask', { ...params, field: 'lab' })),
        ...pause,
        ...(watch.status === 'suspended'
          ? []
          : [act(t('bot:button.test'), packed('watch.test', params))]),
      ],
      hasRule ? [severityButton(reader, watch)] : pictureButton(reader, watch),
      [act(t('bot:button.delete'), packed('watch.delete', params), 'danger')],
      [backToCard(watch)],
    ],
  )
}
