import { packed } from '#src/actions/codec.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import {
  fieldLabel,
  fieldText,
  findField,
  NO_VALUE,
  presetsOf,
  promptKey,
  type SettingWithOwner,
  valueText,
} from '../../views/fields.ts'
import {
  act,
  choiceButton,
  deepLink,
  inRows,
  labelWithName,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { factsOf, formOf, propertyOf, typeLine } from '../../views/watch-facts.ts'

/** One setting of a watch: description, value, and choices. */
export function valueEditor(
  reader: Reader,
  watch: Watch,
  owned: SettingWithOwner,
  options: { readonly now: Date; readonly canTry: boolean },
): View {
  const { t } = reader
  const { field } = owned
  const facts = factsOf(watch)
  const current = currentValue(watch, owned)
  const title = t.html('bot:edit.title', {
    field: fieldLabel(t, owned),
    label: typed(watch.label),
  })
  const isTyped = field.kind !== 'choice'
  const lines = [
    `✏️ ${title}`,
    '',
    fieldText(t, owned, 'help'),
    t.html('bot:edit.current', { value: valueText(reader, owned, current, facts) }),
    field.kind === 'choice' ? undefined : typeLine(reader, watch, 'now', options.now),
    ...(isTyped && !reader.isGroup ? ['', reader.t.html(promptKey(owned.field))] : []),
  ]
  const isLast =
    formOf(watch.type)?.rules?.filter(
      ({ fields: [first] }) => (propertyOf(watch.settings, first) ?? null) !== null,
    ).length === 1
  const off =
    isRemovable(owned) && current !== NO_VALUE && !isLast
      ? [{ value: NO_VALUE, label: t('bot:value.off') }]
      : []
  const presets = [...presetsOf(reader, owned, facts), ...off].map(({ value, label }) =>
    choiceButton(
      label,
      value === current,
      packed('watch.set', { id: watch.id, field: field.code, value }),
    ),
  )
  const elsewhere: Rows =
    isTyped && reader.isGroup
      ? [[{ label: t('bot:button.typeValue'), url: deepLink(reader, `w${watch.id}`) }]]
      : []
  const others: Rows = options.canTry
    ? [[act(t('bot:button.tryValues'), packed('watch.try', { id: watch.id, field: field.code }))]]
    : []
  return screen(lines, [...inRows(presets, 3), ...elsewhere, ...others, [backToCard(watch)]])
}

/** Line with the minimum severity of a watch. */
export function severityLine(reader: Reader, watch: Watch): string {
  const { t } = reader
  const owned = severityOf(watch)
  const value = valueText(reader, owned, watch.minSeverity, factsOf(watch))
  return t.html('bot:more.value', { field: fieldLabel(t, owned), value })
}

/** Button that changes the minimum severity of a watch. */
export function severityButton({ t }: Reader, watch: Watch): Button {
  const owned = severityOf(watch)
  const data = packed('watch.edit', { id: watch.id, field: owned.field.code })
  return act(fieldLabel(t, owned), data)
}

function severityOf({ type }: Watch): SettingWithOwner {
  const owned = findField(type, 'sev')
  if (owned === undefined) throw new Error('a watch has no minimum severity')
  return owned
}

/** The value of a watch's setting, as text. */
export function currentValue(watch: Watch, { owner, field }: SettingWithOwner): string {
  const record = owner === 'watch' ? watch : watch.settings
  const missing = isRemovable({ owner, field }) ? NO_VALUE : field.suggested
  return String(propertyOf(record, field.key) ?? missing)
}

/** Whether a watch can do without a setting, because its type has other rules. */
export function isRemovable({ owner, field }: SettingWithOwner): boolean {
  return formOf(owner)?.rules?.some(({ fields: [first] }) => first === field.key) === true
}

/**
 * Question for the name of a watch.
 * @param suggestion the default name of the watch
 */
export function nameEditor(reader: Reader, watch: Watch, suggestion: string): View {
  const { t } = reader
  const lines = [
    `✏️ ${t.html('bot:edit.title', { field: t('bot:edit.name'), label: typed(watch.label) })}`,
    '',
    t.html(reader.isGroup ? 'bot:edit.current' : 'bot:edit.askName', {
      value: typed(watch.label),
    }),
  ]
  const suggested: readonly Button[] =
    suggestion === watch.label
      ? []
      : [
          act(
            labelWithName(suggestion, isolate),
            packed('watch.set', { id: watch.id, field: 'lab', value: 'own' }),
          ),
        ]
  return screen(lines, [suggested, [backToCard(watch)]])
}

/** Button back to the card, labelled with the watch's name. */
export function backToCard(watch: Pick<Watch, 'id' | 'label'>): Button {
  const label = labelWithName(watch.label, (name) => `‹ ${isolate(name)}`)
  return act(label, packed('watch.card', { id: watch.id }))
}
