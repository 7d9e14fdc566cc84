/** One watch type in words: what a person or an agent reads before they choose its signals. */
import { z } from 'zod'
import { checkedKey, translator } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import type { App } from '../define.ts'
import { ParameterFields, shownTypes } from './pricing-document.ts'

export const WatchTypePath = z.strictObject({ type: z.enum(WATCH_TYPES.map(({ name }) => name)) })

/** Response of `GET /watch-types/{type}`. Its texts are in the language of the request. */
export const WatchTypeView = z
  .object({
    type: z.string(),
    signals: z
      .array(
        z.object({
          id: z.string(),
          group: z.enum(SIGNAL_GROUPS),
          label: z.string(),
          description: z.string(),
          help: z.object({ checked: z.string() }),
          events: z.object({ alerts: z.array(z.string()), recovery: z.string().optional() }),
          defaultEnabled: z.boolean(),
          parameters: z
            .array(z.object({ ...ParameterFields, label: z.string(), help: z.string() }))
            .meta({ description: 'operations:field.signalParameters' }),
        }),
      )
      .meta({ description: 'operations:field.typeSignals' }),
  })
  .meta({ id: 'WatchTypeView' })
export type WatchTypeView = z.output<typeof WatchTypeView>

/** The signals of a watch type. @throws AppError not_found for a type that is not offered here */
export function watchTypeView(
  { billing }: Pick<App, 'billing'>,
  name: string,
  locale: Locale,
): WatchTypeView {
  const type = shownTypes(billing).find((shown) => shown.name === name)
  if (type === undefined) throw new AppError('not_found', 'not_found')
  const t = translator(locale)
  return {
    type: type.name,
    signals: type.signals.map(({ id, group, events, defaultEnabled, parameters }) => {
      const text = (part: string) => t(checkedKey(`signals:${type.name}.${id}.${part}`))
      return {
        id,
        group,
        label: text('label'),
        description: text('description'),
        help: { checked: text('help.checked') },
        events: { ...events, alerts: [...events.alerts] },
        defaultEnabled,
        parameters: parameters.map((parameter) => {
          const { unit: _unit, ...shown } = { unit: undefined, ...parameter }
          const words = { label: text(`${shown.key}.label`), help: text(`${shown.key}.help`) }
          return { ...shown, ...words }
        }),
      }
    }),
  }
}
