import { packed } from '#src/actions/codec.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { nameList } from '#src/i18n/name-list.ts'
import { checkedKey, typed } from '#src/i18n/translate.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { destinationName } from '../../views/destination.ts'
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
import { backToRecipient } from './card-view.ts'

const PAGE_SIZE = 6
/**
 * The type whose watches can be chosen with one button, because its alerts interest other people than
 * alerts about a wallet.
 */
const OFFERED_TYPE = 'provider-fsp'

/** A recipient, and the watches that notify it or may notify it. */
export interface RecipientWatches {
  readonly destination: Destination
  readonly hereId: number | undefined
  readonly watches: readonly Pick<Watch, 'id' | 'type' | 'label' | 'recipientIds'>[]
  /** All destinations of the wallet. */
  readonly destinations: readonly Destination[]
}

interface WatchSelectionOptions {
  /** Number of the page, from 1; a number beyond the last page means the last page. */
  readonly page: number
  /** Line about the last action: HTML. */
  readonly notice?: string | undefined
}

/**
 * Recipients that a watch names after a recipient is added or removed; null if it no longer names any. When a
 * recipient is added to a watch that named none, the default recipients are named, too, so that they stay
 * notified.
 */
export function namedAfter(
  { destination: { id }, destinations }: Pick<RecipientWatches, 'destination' | 'destinations'>,
  { recipientIds }: Pick<Watch, 'recipientIds'>,
  isAdded: boolean,
): readonly number[] | null {
  const nameable = destinations.filter(({ own }) => !own)
  const named = nameable.filter((destination) => recipientIds?.includes(destination.id))
  const before =
    named.length > 0 ? named : isAdded ? nameable.filter((destination) => destination.default) : []
  const others = before
    .map((destination) => destination.id)
    .filter((destinationId) => destinationId !== id)
  const after = isAdded ? [...others, id] : others
  return after.length === 0 ? null : after
}

/** Page with the watch at an index of the list. */
export function pageOf(at: number): number {
  return Math.floor(at / PAGE_SIZE) + 1
}

/** Whether a watch notifies a recipient. */
export function isNotifiedOf(
  { destination, destinations }: Pick<RecipientWatches, 'destination' | 'destinations'>,
  { recipientIds }: Pick<Watch, 'recipientIds'>,
): boolean {
  const isNamed = destinations.some(({ id, own }) => !own && recipientIds?.includes(id))
  if (isNamed) return recipientIds?.includes(destination.id) === true
  return destination.default || destination.own
}

/** Screen with the watches that notify a recipient, and the recipient's minimum severity. */
export function watchSelectionScreen(
  reader: Reader,
  selection: RecipientWatches,
  options: WatchSelectionOptions,
): View {
  const { t } = reader
  const { destination, hereId } = selection
  const name = typed(destinationName(t, destination, hereId))
  const lines = [
    ...(options.notice === undefined ? [] : [options.notice, '']),
    t.html('bot:rec.hearQuestion', { name }),
    ...scopeLines(reader, selection),
  ]
  const from = act(
    t(`bot:button.from.${destination.minSeverity}`),
    packed('rec.sev', { id: destination.id, level: 'ask' }),
  )
  return screen(lines, [
    ...(destination.own ? [] : scopeRows(reader, selection, options.page)),
    [from],
    [backToRecipient(reader, destination, hereId)],
  ])
}

function scopeLines({ t }: Reader, selection: RecipientWatches): readonly (string | undefined)[] {
  const { destination, watches, destinations } = selection
  if (destination.own) return [t.html('bot:rec.defaultOwn')]
  if (destination.default) {
    const on = watches.filter((watch) => isNotifiedOf(selection, watch)).length
    const total = watches.length
    return [on === total ? t.html('bot:rec.hearAll') : t.html('bot:rec.hearDefault', { on, total })]
  }
  const own = destinations
    .filter((destination) => destination.own)
    .map((destination) => destinationName(t, destination, undefined))
  const isAny = watches.some((watch) => isNotifiedOf(selection, watch))
  return [
    t.html(isAny ? 'bot:rec.hearSome' : 'bot:rec.hearNone'),
    // A watch cannot name the wallet's own channels, so these get nothing from it when it names other
    // recipients.
    own.length === 0
      ? undefined
      : `⚠️ ${t.html('bot:rec.hearOwn', { names: nameList(own, t.locale) })}`,
  ]
}

function scopeRows(reader: Reader, selection: RecipientWatches, wanted: number): Rows {
  const { t } = reader
  const { destination, watches } = selection
  const params = { id: destination.id }
  const { default: isDefault } = destination
  const isAll = isDefault && watches.every((watch) => isNotifiedOf(selection, watch))
  // A default recipient that some watches do not notify has neither all watches nor chosen ones.
  const scope = [
    choiceButton(t('bot:button.hearAll'), isAll, packed('rec.hearAll', params)),
    choiceButton(t('bot:button.hearSome'), !isDefault, packed('rec.hearSome', params)),
  ]
  if (isDefault) return [scope]
  const types = new Set(watches.map(({ type }) => type))
  const pages = Math.max(1, Math.ceil(watches.length / PAGE_SIZE))
  const page = Math.min(wanted, pages)
  const shown = watches.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const ofType = t(checkedKey(`bot:button.type.${OFFERED_TYPE}`))
  return [
    scope,
    types.has(OFFERED_TYPE) && types.size > 1
      ? [act(`+ ${ofType}`, packed('rec.hearType', { ...params, type: OFFERED_TYPE }))]
      : [],
    ...inRows(
      shown.map((watch) => watchButton(selection, watch)),
      2,
    ),
    pageRow(page, pages, (to) => packed('rec.hear', { ...params, page: to })),
  ]
}

function watchButton(
  selection: RecipientWatches,
  watch: RecipientWatches['watches'][number],
): Button {
  const mark = isNotifiedOf(selection, watch) ? '✓' : '○'
  const label = labelWithName(watch.label, (name) => `${mark} ${isolate(name)}`, 2)
  const params = { id: selection.destination.id, watch: watch.id }
  return act(label, packed('rec.hearFlip', params))
}
