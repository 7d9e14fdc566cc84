import { packed } from '#src/actions/codec.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { nameList } from '#src/i18n/name-list.ts'
import { checkedKey, typed } from '#src/i18n/translate.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import { type TriedWatch, weekLine } from '../../views/backtest-line.ts'
import type { SlotUse } from '../../views/slot-use.ts'
import {
  act,
  choiceButton,
  inRows,
  labelWithName,
  pageRow,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { factsOf, formOf, typeLine } from '../../views/watch-facts.ts'
import type { Draft } from './draft.ts'
import { describedDraft, isOn, lastRow, nameOf, titleLine } from './view.ts'

/** An asset that is offered for a balance. */
export interface OfferedAsset {
  /** Value in the data of the button. */
  readonly value: string
  readonly label: string
  readonly isChosen: boolean
}

const PAGE_SIZES = { feed: 18, provider: 8, address: 8, asset: 8 } as const

/** Number of targets on one page of a list. */
export function pageSizeOf(type: string): number {
  return PAGE_SIZES[formOf(type)?.target[0]?.kind ?? 'address']
}

/** The step of the target. */
export function targetStep(
  reader: Reader,
  draft: Draft,
  options: {
    readonly assets: readonly OfferedAsset[]
    /** Number of targets in the list; 0 if there are only the offered targets. */
    readonly listed: number
    /** Whether the whole list is shown, page by page. */
    readonly isList: boolean
  },
): View {
  const { t } = reader
  const { rev, values } = draft
  const kind = formOf(values.type)?.target[0]?.kind ?? 'address'
  const isToken = values.asking === 'tok'
  const ask = isToken ? t.html('bot:new.askToken') : t.html(`bot:new.ask.${kind}`)
  const picks = values.offered.map(({ name }, index) =>
    act(labelWithName(name, isolate), packed('new.pick', { rev, index })),
  )
  const assets = options.assets.map(({ value, label, isChosen }) =>
    choiceButton(label, isChosen, packed('new.set', { rev, field: 'tok', value })),
  )
  const pages = Math.ceil(options.listed / pageSizeOf(values.type))
  const all =
    options.listed > 0 && !options.isList
      ? [
          act(
            `${t(checkedKey(`bot:button.all.${kind}`), { count: options.listed })} ›`,
            packed('new.page', { rev, page: 1 }),
          ),
        ]
      : []
  const lines = [
    titleLine(reader, draft),
    ask,
    ...(assets.length > 0 && !isToken ? ['', t.html('bot:new.askAsset')] : []),
  ]
  const hasAssets = assets.length > 0
  return screen(lines, [
    ...(isToken ? [] : inRows(picks, kind === 'feed' ? 3 : 2)),
    all,
    options.isList
      ? pageRow(values.page, pages, (to) => packed('new.page', { rev, page: to }))
      : [],
    ...(isToken ? [] : inRows(assets, 3)),
    hasAssets && !isToken
      ? [act(t('bot:button.otherToken'), packed('new.ask', { rev, field: 'tok' }))]
      : [],
    lastRow(
      reader,
      draft,
      isToken || options.isList ? t('bot:button.target') : t('bot:button.types'),
    ),
  ])
}

/**
 * The summary before the watch is created.
 * @param options `notifies`: names of the recipients
 */
export function summaryStep(
  reader: Reader,
  draft: Draft,
  options: {
    readonly now: Date
    readonly notifies: readonly string[]
    readonly slots: SlotUse
    /** What the watch would have sent in the last week; undefined if not known yet. */
    readonly week: TriedWatch | undefined
  },
): View {
  const { t } = reader
  const { rev, values } = draft
  const described = describedDraft(draft)
  const { notifies, slots, now, week } = options
  const name = nameOf(t, draft) ?? values.preview?.label ?? ''
  if (values.asking === 'lab') {
    const lines = [titleLine(reader, draft), t.html('bot:new.askName', { value: typed(name) })]
    return screen(lines, [lastRow(reader, draft, t('bot:button.check'))])
  }
  const { feed } = factsOf(described)
  const isNamedLikeFeed = feed?.kind === 'name' && feed.text === name
  const lines = [
    titleLine(reader, draft),
    isNamedLikeFeed ? undefined : t.html('bot:new.name', { name: typed(name) }),
    typeLine(reader, described, 'target', now),
    typeLine(reader, described, 'rule', now) ?? signalsLine(reader, draft),
    notifies.length === 0
      ? `⚠️ ${t.html('bot:new.tellsNobody')}`
      : t.html('bot:watch.tells', { names: nameList(notifies, t.locale) }),
    reader.isBillingOff === true ? undefined : t.html('bot:new.uses', { available: slots.free }),
    week && weekLine(t, week),
  ]
  const severity = t(`bot:button.from.${values.minSeverity}`)
  const next = SEVERITIES[(SEVERITIES.indexOf(values.minSeverity) + 1) % SEVERITIES.length]
  return screen(lines, [
    [act(t('bot:button.create'), packed('new.create', { rev }), 'primary')],
    [
      act(t('bot:button.nameIt'), packed('new.ask', { rev, field: 'lab' })),
      act(t('bot:button.recipients'), packed('new.set', { rev, field: 'who', value: '1' })),
    ],
    [act(severity, packed('new.set', { rev, field: 'sev', value: next ?? 'info' }))],
    lastRow(reader, draft, t('bot:button.rule')),
  ])
}

function signalsLine({ t }: Reader, { values }: Draft): string {
  const signals = findWatchType(values.type)?.signals ?? []
  const on = signals.filter(({ id, defaultEnabled }) => isOn(values.signals, id, defaultEnabled))
  if (signals.length > 1) {
    return t.html('bot:new.signalsOn', { on: on.length, total: signals.length })
  }
  return signals
    .map(({ id }) => t.html(checkedKey(`signals:${values.type}.${id}.description`)))
    .join('\n')
}

/** A recipient that the new watch can name. */
export interface OfferedPerson {
  readonly id: number
  readonly name: string
  readonly isChosen: boolean
}

/** The step of the recipients. */
export function peopleStep(
  reader: Reader,
  draft: Draft,
  options: { readonly people: readonly OfferedPerson[]; readonly notifies: readonly string[] },
): View {
  const { t } = reader
  const { rev } = draft
  const { people, notifies } = options
  const lines = [
    titleLine(reader, draft),
    t.html('bot:new.askPeople'),
    notifies.length === 0
      ? `⚠️ ${t.html('bot:new.tellsNobody')}`
      : t.html('bot:watch.tells', { names: nameList(notifies, t.locale) }),
    t.html('bot:help.marks'),
  ]
  const toggles = people.map(({ id, name, isChosen }) =>
    act(
      labelWithName(name, (cut) => `${isChosen ? '✓' : '○'} ${isolate(cut)}`),
      packed('new.who', { rev, id }),
    ),
  )
  const done = act(t('bot:button.done'), packed('new.next', { rev }), 'primary')
  return screen(lines, [
    ...inRows(toggles, 2),
    [done],
    lastRow(reader, draft, t('bot:button.check')),
  ])
}
