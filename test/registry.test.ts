import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { HELP_FORMS } from '#src/channels/card/transfer.ts'
import { checkedKey, hasText, translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import texts from '../locales/en/signals.json' with { type: 'json' }
import publishedTable from './fixtures/operations.json' with { type: 'json' }
import { every } from './support/every.ts'

const published = z
  .array(
    z.object({
      method: z.string(),
      path: z.string(),
      scope: z.string(),
      idempotent: z.boolean(),
      otherScope: z.string().optional(),
    }),
  )
  .parse(publishedTable)

const nameOf = ({ method, path }: { method: string; path?: string }) => `${method} ${path}`

describe('the registry of operations', () => {
  const specified = REGISTRY.filter(({ isExtension }) => isExtension !== true)

  test('has the 41 operations of the published table, in its order; all others are marked as extensions', () => {
    expect(specified.map(nameOf)).toEqual(published.map(nameOf))
    expect(published).toHaveLength(41)
  })

  test('has the scopes and the idempotency of the published table', () =>
    every(
      specified.map((operation) => [operation.id, operation] as const),
      (_id, operation) => {
        const row = published.find((candidate) => nameOf(candidate) === nameOf(operation))
        expect({
          scope: operation.scope,
          idempotent: operation.idempotent ?? false,
          otherScope: operation.otherScope?.scope,
        }).toEqual({ scope: row?.scope, idempotent: row?.idempotent, otherScope: row?.otherScope })
      },
    ))

  test('has a summary and a description for every operation', () => {
    const missing = REGISTRY.flatMap(({ id }) =>
      [`operations:${id}.summary`, `operations:${id}.description`].filter((key) => !hasText(key)),
    )
    expect(missing).toEqual([])
  })

  test('has a named schema for every JSON answer and every body that is not empty', () => {
    const nameless = REGISTRY.flatMap(({ id, output, body, status, produces }) => {
      const isJson = status !== 204 && produces === undefined
      const isNamed = (schema: z.ZodType | undefined) =>
        schema !== undefined && z.globalRegistry.get(schema)?.id !== undefined
      return [...(isJson && !isNamed(output) ? [`answer of ${id}`] : [])].concat(
        body !== undefined && !isNamed(body) && !isEmpty(body) ? [`body of ${id}`] : [],
      )
    })
    expect(nameless).toEqual([])
  })
})

/** Whether the schema accepts an empty object and no property. */
function isEmpty(body: z.ZodType): boolean {
  return body.safeParse({}).success && !body.safeParse({ surprise: 1 }).success
}

describe('the registry of watch types', () => {
  const signals = WATCH_TYPES.flatMap((type) => type.signals.map((signal) => ({ type, signal })))
  const signalEvents = WATCH_TYPES.flatMap((type) =>
    type.signals.map((signal) => {
      const { alerts, recovery } = signal.events
      return { signal, events: recovery === undefined ? alerts : [...alerts, recovery] }
    }),
  )

  test('has all texts of types, signals, groups and parameters, and no others', () => {
    const keys = [
      ...WATCH_TYPES.flatMap(({ name }) => [`type.${name}.description`]),
      ...SIGNAL_GROUPS.flatMap((group) => [`group.${group}.label`, `group.${group}.help`]),
      ...signals.flatMap(({ type, signal }) => {
        const prefix = `${type.name}.${signal.id}`
        return [
          ...['label', 'short', 'description'].map((name) => `${prefix}.${name}`),
          ...['checked', 'why', 'causes', 'action'].map((part) => `${prefix}.help.${part}`),
          ...signal.parameters.flatMap(({ key }) => [
            `${prefix}.${key}.label`,
            `${prefix}.${key}.help`,
          ]),
        ]
      }),
      ...HELP_FORMS.flatMap((form) =>
        ['causes', 'action'].map((part) => `wallet-balance.balance-change.help.${form}.${part}`),
      ),
    ]
    expect(keys.filter((key) => !hasText(`signals:${key}`))).toEqual([])
    expect(Object.keys(texts).filter((key) => !keys.includes(key))).toEqual([])
  })

  test.each(
    LOCALES,
  )('has short names of signals in %s that have at most 16 characters and differ within a watch type', (locale) => {
    const shorts = signals.map(({ type, signal }) => ({
      type: type.name,
      short: translate(locale, checkedKey(`signals:${type.name}.${signal.id}.short`)),
    }))
    expect(shorts.filter(({ short }) => [...short].length > 16)).toEqual([])
    const names = shorts.map(({ type, short }) => `${type} ${short}`)
    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([])
  })

  test('has a title and a body for every event of a signal', () => {
    const keys = signalEvents.flatMap(({ events }) =>
      events.flatMap((event) => [`messages:${event}.title`, `messages:${event}.body`]),
    )
    expect(keys.filter((key) => !hasText(key))).toEqual([])
  })

  test('has an example of every event, with a value and a label for each field that it shows', () => {
    const missing = signalEvents.flatMap(({ signal, events }) =>
      events.flatMap((event) => {
        const data = signal.examples[event]
        if (data === undefined) return [`example of ${event}`]
        const { facts, fields } = signal.present(event, data)
        return fields.filter((name) => !(name in facts) || !hasText(`messages:field.${name}`))
      }),
    )
    expect(missing).toEqual([])
  })
})
