import { packed } from '#src/actions/codec.ts'
import { id, typed } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { LOCALES, localeName } from '#src/kernel/locale.ts'
import { destinationName } from '../../views/destination.ts'
import {
  act,
  choiceButton,
  inRows,
  labelWithName,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { suggestedZones, zoneButton } from '../../views/zones.ts'
import { backToRecipient, type DestinationData } from './card-view.ts'

/** Severities by their code in button data. */
export const SEVERITY_BY_CODE: Readonly<Record<string, Severity>> = {
  inf: 'info',
  war: 'warning',
  cri: 'critical',
}

/** Choice of the destination's lowest severity. */
export function severityChoice(reader: Reader, { destination, hereId }: DestinationData): View {
  const { t } = reader
  const { minSeverity } = destination
  const name = typed(destinationName(t, destination, hereId))
  const choices = Object.entries(SEVERITY_BY_CODE).map(([code, severity]) => {
    const label = t(`bot:button.from.${severity}`)
    const data = packed('rec.sev', { id: destination.id, level: code })
    return [choiceButton(label, severity === minSeverity, data)]
  })
  return screen(
    [t.html('bot:rec.severityQuestion', { name }), t.html('bot:rec.severityHelp')],
    [...choices, [backToRecipient(reader, destination, hereId)]],
  )
}

/** Choice of the destination's language. */
export function languageOf(reader: Reader, { destination, hereId }: DestinationData): View {
  const { t } = reader
  const name = typed(destinationName(t, destination, hereId))
  const choices = LOCALES.map((locale) => {
    const label = localeName(locale)
    const data = packed('rec.langSet', { id: destination.id, locale })
    return choiceButton(label, locale === destination.locale, data)
  })
  return screen(
    [t.html('bot:rec.languageQuestion', { name })],
    [...inRows(choices, 2), [backToRecipient(reader, destination, hereId)]],
  )
}

/** Choice of the destination's time zone. */
export function zoneOf(
  reader: Reader,
  { destination, hereId }: DestinationData,
  options: { readonly now: Date },
): View {
  const { t } = reader
  const { id: recipientId, timezone } = destination
  const name = typed(destinationName(t, destination, hereId))
  const offered = new Set([reader.timezone, ...suggestedZones(t.locale, timezone)])
  offered.delete(timezone)
  const choices = [...offered].map((zone) =>
    zoneButton(reader, zone, options.now, packed('rec.zoneSet', { id: recipientId, zone })),
  )
  return screen(
    [
      t.html('bot:rec.zoneQuestion', { name, zone: id(modernZone(timezone)) }),
      t.html('bot:zone.send'),
    ],
    [...inRows(choices, 2), [backToRecipient(reader, destination, hereId)]],
  )
}

/** Question for the destination's name. */
export function nameQuestion(reader: Reader, { destination, hereId }: DestinationData): View {
  const value = typed(destination.name)
  return screen(
    [reader.t.html('bot:new.askName', { value })],
    [[backToRecipient(reader, destination, hereId)]],
  )
}

/**
 * Asks for confirmation of deleting a destination.
 * @param alone number of watches that name no other recipient
 */
export function deleteRecipient(
  reader: Reader,
  { destination, hereId }: DestinationData,
  options: { readonly alone: number },
): View {
  const { t } = reader
  const name = destinationName(t, destination, hereId)
  const lines = [
    t.html('bot:rec.deleteQuestion', { name: typed(name) }),
    options.alone === 0 ? undefined : t.html('bot:rec.deleteEffect', { count: options.alone }),
  ]
  return screen(lines, [
    [
      act(
        labelWithName(name, (text) => t('bot:button.deleteWatch', { label: typed(text) })),
        packed('rec.deleteYes', { id: destination.id }),
        'danger',
      ),
    ],
    [act(`‹ ${t('bot:button.keep')}`, packed('rec.card', { id: destination.id }))],
  ])
}
