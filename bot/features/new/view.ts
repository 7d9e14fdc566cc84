import { z } from 'zod'
import { packed } from '#src/actions/codec.ts'
import { checkedKey, type Translate, typed } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { Label } from '#src/kernel/label.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { settingValue } from '#src/watches/form.ts'
import type { Watch } from '#src/watches/model.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { ALL_ASSETS } from '#src/watches/types/own-coin.ts'
import { fieldsOfRule, type SettingWithOwner } from '../../views/fields.ts'
import type { SlotUse } from '../../views/slot-use.ts'
import { act, back, inRows, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { formOf, typeLine, typeName, type WatchDescription } from '../../views/watch-facts.ts'
import { resumeButton } from '../start/resume-view.ts'
import type { Draft, Step } from './draft.ts'

/** Types that most people want are offered first. */
const OFFERED_FIRST: readonly string[] = ['wallet-balance', 'provider-fsp']

/**
 * Watch types that the chat offers, in this order. It offers none about the wallet's credits: the service says for
 * nothing that they run low.
 */
export const GUIDED_TYPES: readonly string[] = REGISTRY.filter(({ reads }) => reads === 'chain')
  .map(({ name }) => name)
  .toSorted((a, b) => offerPlace(a) - offerPlace(b))

function offerPlace(type: string): number {
  return OFFERED_FIRST.includes(type) ? OFFERED_FIRST.indexOf(type) : OFFERED_FIRST.length
}

/** The type whose name begins with a typed word, or whose translated name contains it. */
export function typeNamed(t: Translate, text: string): string | undefined {
  const word = text.trim().toLowerCase()
  if (word === '') return undefined
  return (
    GUIDED_TYPES.find((type) => type.startsWith(word)) ??
    GUIDED_TYPES.find((type) => typeName(t, type).toLowerCase().includes(word))
  )
}

/** One button for each type that can be created. */
export function typeButtons(
  { t }: Pick<Reader, 't'>,
  most: number = GUIDED_TYPES.length,
): readonly Button[] {
  return GUIDED_TYPES.slice(0, most).map((type) =>
    act(`${formOf(type)?.icon} ${typeName(t, type)}`, newType(type)),
  )
}

function newType(type: string): string {
  return packed('new.type', { type, address: undefined })
}

/** Description of each type, one line per type. */
export function typeLines({ t }: Pick<Reader, 't'>): readonly string[] {
  return GUIDED_TYPES.map(
    (type) =>
      `${formOf(type)?.icon} ${t.html('bot:new.type', {
        type: typeName(t, type),
        description: t(checkedKey(`signals:type.${type}.description`)),
      })}`,
  )
}

/**
 * The choice of a type.
 * @param resume a pending draft
 */
export function typeChoice(
  reader: Reader,
  options: {
    readonly slots: SlotUse
    readonly resume: Draft | undefined
    readonly notice?: string
  },
): View {
  const { t, isBillingOff } = reader
  const { slots, resume, notice } = options
  const lines = [
    notice,
    isBillingOff === true
      ? undefined
      : t.html('bot:new.title', { available: slots.free, total: slots.total }),
    t.html('bot:new.what'),
    '',
    ...typeLines(reader),
  ]
  const again = resume && resumeButton(t, { type: resume.values.type, rev: resume.rev }, 'primary')
  const toWatches = back(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  return screen(lines, [
    again ? [again] : [],
    ...inRows(typeButtons(reader), 2),
    [toWatches, menuButton(t)],
  ])
}

/**
 * The name of the watch: the typed name, *My wallet* for the balance of the wallet itself, or the name of the provider;
 * the watches of one provider are distinguished by their types. Undefined if the target's name is used.
 */
export function nameOf(t: Translate, { wallet, values }: Draft): string | undefined {
  const { type, label, preview } = values
  if (label !== null) return label
  const { address, asset } = z.looseObject({}).parse(preview?.target ?? {})
  if (type === 'wallet-balance' && address === wallet) {
    const own = t('bot:new.myWallet')
    const [symbol] = (preview?.label ?? '').split(' · ')
    const isOwn = asset === servedChain().symbol || asset === ALL_ASSETS
    return isOwn ? own : Label.safeParse(`${own} · ${symbol}`).data
  }
  const provider = preview?.providerName ?? undefined
  if (provider === undefined || type === 'provider-fsp') return provider
  return Label.safeParse(`${provider} · ${typeName(t, type)}`).data ?? provider
}

/** A draft, described like a watch. */
export function describedDraft({ values }: Draft): WatchDescription {
  const { type, rule, preview, settings } = values
  const encoded = Object.fromEntries(
    fieldsOfRule(type, rule).flatMap(({ field }) => {
      const text = settings[field.key]
      return text === undefined ? [] : [[field.key, settingValue(field, text)]]
    }),
  )
  return {
    type,
    target: preview?.target ?? {},
    settings: encoded,
    lastObservation: preview?.observation,
    providerName: preview?.providerName ?? undefined,
  }
}

/** Numbered steps of a type’s wizard. */
export function stepsOf(type: string): readonly ('target' | 'rule' | 'check')[] {
  const hasTarget = (formOf(type)?.target.length ?? 0) > 0
  return hasTarget ? ['target', 'rule', 'check'] : ['rule', 'check']
}

const COUNTED_AS = {
  target: 'target',
  rule: 'rule',
  choose: 'rule',
  check: 'check',
  people: 'check',
  done: 'check',
} as const satisfies Readonly<Record<Step, string>>

/** Title line of every step. */
export function titleLine({ t }: Reader, { values }: Draft): string {
  const steps = stepsOf(values.type)
  const counted = COUNTED_AS[values.step]
  return t.html('bot:new.stepTitle', {
    type: typeName(t, values.type),
    step: steps.indexOf(counted) + 1,
    steps: steps.length,
  })
}

/**
 * Buttons for back and cancel.
 * @param label of the previous step
 */
export function lastRow({ t }: Reader, { rev }: Draft, label: string): readonly Button[] {
  return [
    back(label, packed('new.back', { rev })),
    act(`✕ ${t('bot:button.cancel')}`, packed('new.cancel', { rev })),
  ]
}

/** The setting that is not a choice, if a rule has exactly one: the press of its value completes the rule. */
export function onlyTypedSetting({
  type,
  rule,
}: Pick<Draft['values'], 'type' | 'rule'>): SettingWithOwner | undefined {
  const numbers = fieldsOfRule(type, rule).filter(({ field }) => field.kind !== 'choice')
  return numbers.length === 1 ? numbers[0] : undefined
}

/** Short name of the choice of a rule. */
export const RULES = 'kin'

/** Whether a signal of a draft is enabled. */
export function isOn(
  chosen: Draft['values']['signals'],
  signal: string,
  defaultEnabled: boolean,
): boolean {
  return chosen.find(({ id }) => id === signal)?.enabled ?? defaultEnabled
}

/**
 * Screen of a created watch.
 * @param options.note line about side effects of the creation: HTML
 */
export function watchCreated(
  reader: Reader,
  watch: Watch,
  options: {
    readonly now: Date
    readonly seen: unknown
    readonly isNotified: boolean
    readonly note?: string
  },
): View {
  const { t } = reader
  const described = { ...watch, lastObservation: options.seen }
  const { id } = watch
  const lines = [
    `✅ ${t.html('bot:new.created', { label: typed(watch.label) })}`,
    typeLine(reader, described, 'now', options.now),
    typeLine(reader, described, 'rule', options.now),
    options.isNotified ? undefined : `⚠️ ${t.html('bot:new.tellsNobody')}`,
    options.note,
  ]
  const first = options.isNotified
    ? act(t('bot:button.sendTest'), packed('watch.test', { id }), 'primary')
    : act(t('bot:button.choose'), packed('watch.who', { id, page: 1 }), 'primary')
  return screen(lines, [
    [first],
    [
      act(t('bot:button.openIt'), packed('watch.card', { id })),
      act(t('bot:button.newWatch'), packed('new.start')),
    ],
    [back(t('bot:button.watches'), packed('watch.list', { page: 1 }))],
  ])
}

/** Screen after the draft was deleted. */
export function nothingCreated({ t }: Reader): View {
  return screen(
    [t.html('bot:new.cancelled')],
    [[act(t('bot:button.newWatch'), packed('new.start'))], [menuButton(t)]],
  )
}
