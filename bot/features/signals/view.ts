import { packed } from '#src/actions/codec.ts'
import { checkedKey, type Translate, typed } from '#src/i18n/translate.ts'
import { SIGNAL_GROUPS, type SignalGroup } from '#src/kernel/signal-group.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { SignalSetting, SignalState, Watch } from '#src/watches/model.ts'
import type { SignalDefinition } from '#src/watches/signal.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import { act, back, inRows, type Reader, screen, type View } from '../../views/view.ts'
import { SEVERITY_GLYPHS, STATUS_GLYPHS } from '../../views/watch-state.ts'
import { backToCard, severityButton, severityLine } from '../watches/edit-view.ts'

/** One signal of a watch, with its definition, setting and state. */
export interface SignalView {
  readonly definition: SignalDefinition
  readonly setting: SignalSetting
  readonly state: SignalState | undefined
}

/** The signals of a watch, in order. */
export function signalsOf(watch: Watch): readonly SignalView[] {
  const definitions = findWatchType(watch.type)?.signals ?? []
  return definitions.flatMap((definition) => {
    const setting = watch.signals.find((signal) => signal.id === definition.id)
    const state = watch.signalStates.find((signalState) => signalState.id === definition.id)
    return setting === undefined ? [] : [{ definition, setting, state }]
  })
}

/** Marks of what is switched on or off, or chosen or not. */
export const ENABLED_MARK = '✓'
export const DISABLED_MARK = '○'

/** The mark of a signal. */
export function markOf({ setting, state }: SignalView): string {
  if (!setting.enabled) return DISABLED_MARK
  if (state?.state === 'firing') return SEVERITY_GLYPHS[state.severity ?? 'warning']
  return state?.state === 'pending' ? STATUS_GLYPHS.pending : ENABLED_MARK
}

function isNoticeable({ setting, state }: SignalView): boolean {
  return setting.enabled && (state?.state === 'firing' || state?.state === 'pending')
}

/** The short name of a signal, for lists and buttons. */
export function signalShort(t: Translate, type: string, signal: string): string {
  return t(checkedKey(`signals:${type}.${signal}.short`))
}

/** One line of a card: the number of enabled signals, and the signals that are not `ok`. */
export function signalsSummary({ t }: Reader, watch: Watch): string {
  const all = signalsOf(watch)
  const on = all.filter(({ setting }) => setting.enabled).length
  const noticeable = all.filter(isNoticeable).map((signal) => {
    return `${markOf(signal)}\u00a0${signalShort(t, watch.type, signal.definition.id)}`
  })
  const values = { on, total: all.length }
  return noticeable.length === 0
    ? t.html('bot:signals.summary', values)
    : t.html('bot:signals.summaryLoud', { ...values, loud: noticeable.join(' · ') })
}

/** Maximum number of pending or firing signals with a button of their own. */
const NOTICEABLE_MAX = 2
/** Maximum number of signals that the line of a group names. */
const NAMED_MAX = 3

/** All signals of a watch, by group. */
export function signalList(reader: Reader, watch: Watch): View {
  const { t } = reader
  const all = signalsOf(watch)
  const groups = SIGNAL_GROUPS.flatMap((group) => {
    const members = all.filter(({ definition }) => definition.group === group)
    return members.length === 0 ? [] : [{ group, members }]
  })
  const values = {
    label: typed(watch.label),
    on: all.filter(({ setting }) => setting.enabled).length,
    total: all.length,
  }
  const noticeable = all.filter(isNoticeable).slice(0, NOTICEABLE_MAX)
  const lines = [
    t.html('bot:signals.title', values),
    severityLine(reader, watch),
    '',
    ...groups.map(({ group, members }) => groupLine(t, watch.type, group, members)),
  ]
  const several = all.length > 1
  return screen(lines, [
    noticeable.map((signal) => signalButton(reader, watch, signal)),
    ...inRows(
      groups.map(({ group, members }) => groupButton(reader, watch, group, members)),
      2,
    ),
    ...(several ? choiceRows(reader, watch, all) : []),
    [backToCard(watch), severityButton(reader, watch)],
  ])
}

/** Buttons that switch many signals at once: the usual ones, all, or those that can be critical. */
function choiceRows({ t }: Reader, watch: Watch, all: readonly SignalView[]): Rows {
  const count = (isIn: (definition: SignalDefinition) => boolean) =>
    all.filter(({ definition }) => isIn(definition)).length
  const choose = (label: string, signals: 'all' | 'crt' | 'def') =>
    act(label, packed('signal.all', { id: watch.id, signals }))
  const usual = count(({ defaultEnabled }) => defaultEnabled)
  const critical = count(({ canBeCritical }) => canBeCritical)
  return [
    [
      choose(t('bot:button.usualSignals', { count: usual }), 'def'),
      choose(t('bot:button.allSignals', { count: all.length }), 'all'),
    ],
    [choose(t('bot:button.criticalSignals', { count: critical }), 'crt')],
  ]
}

function groupLine(
  t: Translate,
  type: string,
  group: SignalGroup,
  members: readonly SignalView[],
): string {
  const shown = members.filter(({ setting }) => setting.enabled).slice(0, NAMED_MAX)
  const rest = members.length - shown.length
  const names = shown.map(
    (signal) => `${markOf(signal)} ${signalShort(t, type, signal.definition.id)}`,
  )
  const more = rest > 0 ? [t('bot:signals.more', { count: rest })] : []
  return t.html('bot:signals.line', {
    group: t(`signals:group.${group}.label`),
    names: [...names, ...more].join(' · '),
  })
}

function groupButton(
  { t }: Reader,
  watch: Watch,
  group: SignalGroup,
  members: readonly SignalView[],
): Button {
  const on = members.filter(({ setting }) => setting.enabled).length
  const label = `${t(`signals:group.${group}.label`)} ${on}/${members.length}`
  return act(label, packed('signal.group', { id: watch.id, group }))
}

function signalButton({ t }: Reader, watch: Watch, signal: SignalView): Button {
  const { id: signalId } = signal.definition
  const label = `${markOf(signal)} ${signalShort(t, watch.type, signalId)}`
  return act(label, packed('signal.card', { id: watch.id, signal: signalId }))
}

/** The signals of one group, with their descriptions. */
export function signalGroup(reader: Reader, watch: Watch, group: SignalGroup): View {
  const { t } = reader
  const members = signalsOf(watch).filter(({ definition }) => definition.group === group)
  const values = {
    group: t(`signals:group.${group}.label`),
    label: typed(watch.label),
    on: members.filter(({ setting }) => setting.enabled).length,
    total: members.length,
  }
  const lines = [
    t.html('bot:signals.groupTitle', values),
    t.html(`signals:group.${group}.help`),
    '',
    ...members.map((signal) => {
      const text = t.html('bot:signals.member', {
        signal: signalShort(t, watch.type, signal.definition.id),
        description: t(checkedKey(`signals:${watch.type}.${signal.definition.id}.description`)),
      })
      return `${markOf(signal)} ${text}`
    }),
    '',
    t.html('bot:help.marks'),
  ]
  return screen(lines, [
    ...inRows(
      members.map((signal) => signalButton(reader, watch, signal)),
      2,
    ),
    [back(t('bot:button.signals'), packed('signal.list', { id: watch.id }))],
  ])
}

/** All signals, enabled by a choice: `all`, those that can be critical (`crt`), or the default ones (`def`). */
export function chosenSignals(
  definitions: readonly SignalDefinition[],
  choice: 'all' | 'crt' | 'def',
): readonly { readonly id: string; readonly enabled: boolean }[] {
  return definitions.map(({ id: signal, defaultEnabled, canBeCritical }) => ({
    id: signal,
    enabled: choice === 'all' || (choice === 'crt' ? canBeCritical : defaultEnabled),
  }))
}
