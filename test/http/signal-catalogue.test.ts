import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { PricingDocument } from '#src/operations/rest/pricing-document.ts'
import { EVENTS } from '#src/watches/events.ts'
import tables from '../fixtures/signals.json' with { type: 'json' }
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn, withTrial } from '../support/people.ts'

/** The specification's tables of signals and events: what each signal emits and how it can be tuned. */
const published = z
  .strictObject({
    signals: z.array(
      z.strictObject({
        type: z.string(),
        id: z.string(),
        group: z.string(),
        alerts: z.array(z.string()),
        recovery: z.string().nullable(),
        defaultEnabled: z.boolean(),
        parameters: z.array(z.looseObject({ key: z.string() })),
      }),
    ),
    events: z.strictObject({ single: z.array(z.string()), paired: z.array(z.string()) }),
  })
  .parse(tables)

type Signal = z.output<typeof PricingDocument>['watchdog']['signalDefinitions'][string][number]

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let watchdog: z.output<typeof PricingDocument>['watchdog']
let raw: { readonly signalDefinitions: Readonly<Record<string, readonly object[]>> }

beforeAll(async () => {
  service = await serviceOnly()
  alice = await withTrial(await signIn(service, 'alice'))
  const { body } = await request(service, 'GET', '/pricing')
  watchdog = PricingDocument.parse(body).watchdog
  raw = body.watchdog
})
afterAll(() => service.close())

const rowOf = (type: string, signal: Signal) => ({
  type,
  id: signal.id,
  group: signal.group.id,
  alerts: signal.events.alerts,
  recovery: signal.events.recovery ?? null,
  defaultEnabled: signal.defaultEnabled,
  parameters: (signal.parameters ?? []).map(({ label: _label, help: _help, ...bounds }) => bounds),
})

const listed = () =>
  Object.entries(watchdog.signalDefinitions).flatMap(([type, signals]) =>
    signals.map((signal) => ({ type, signal })),
  )

describe('the signal catalogue of GET /pricing', () => {
  test('has every watch type, in the published order', () => {
    const types = [...new Set(published.signals.map(({ type }) => type))]
    expect(watchdog.types).toEqual(types)
    expect(Object.keys(watchdog.signalDefinitions)).toEqual(types)
  })

  test('has every signal of the published tables, field by field and in their order', () => {
    expect(listed().map(({ type, signal }) => rowOf(type, signal))).toEqual(published.signals)
  })

  test('offers recoveries, on by default, exactly where there is a recovery event', () => {
    for (const { signal } of listed()) {
      const expected = signal.events.recovery === undefined ? undefined : { defaultEnabled: true }
      expect(signal.recovery, signal.id).toEqual(expected)
    }
  })

  test('has the published fields and no other, and no empty list of parameters', () => {
    const always = ['id', 'help', 'group', 'label', 'description', 'events', 'defaultEnabled']
    for (const { type, id, recovery, parameters } of published.signals) {
      const signal =
        raw.signalDefinitions[type]?.find((signal) => 'id' in signal && signal.id === id) ?? {}
      const optional = [
        ...(recovery === null ? [] : ['recovery']),
        ...(parameters.length === 0 ? [] : ['parameters']),
      ]
      expect(Object.keys(signal).toSorted(), id).toEqual([...always, ...optional].toSorted())
    }
  })

  test('has the text key and a non-empty English text of every signal, group and parameter', () => {
    for (const { type, signal } of listed()) {
      const prefix = `signals:${type}.${signal.id}`
      const { help, group, parameters = [] } = signal
      const texts = [
        ...Object.entries(help).map(([part, text]) => [`${prefix}.help.${part}`, text] as const),
        [`${prefix}.label`, signal.label] as const,
        [`${prefix}.description`, signal.description] as const,
        [`signals:group.${group.id}.label`, group] as const,
        [`signals:group.${group.id}.help`, group.help] as const,
        ...parameters.flatMap(({ key, label, help }) => [
          [`${prefix}.${key}.label`, label] as const,
          [`${prefix}.${key}.help`, help] as const,
        ]),
      ]
      for (const [key, text] of texts) {
        expect(text.key).toBe(key)
        expect(text.def.trim(), key).not.toBe('')
      }
    }
  })

  test('repeats no line in the help of a signal', () => {
    for (const { signal } of listed()) {
      const sentences = Object.values(signal.help).flatMap(({ def }) =>
        def.split('\n').map((line) => line.replace(/^(•|\d\.) /, '')),
      )
      expect(new Set(sentences).size, signal.id).toBe(sentences.length)
    }
  })
})

describe('the events', () => {
  test('are exactly the published ones', () => {
    const { single, paired } = published.events
    const pairs = paired.flatMap((name) => [`fsp.${name}`, `fsp.${name}.recovered`])
    expect(EVENTS.toSorted()).toEqual([...single, ...pairs].toSorted())
  })

  test('belong to one signal each; only `fsp.monitoring` and its recovery belong to none', () => {
    const emitted = listed().flatMap(({ signal: { events } }) => [
      ...events.alerts,
      ...(events.recovery === undefined ? [] : [events.recovery]),
    ])
    expect(new Set(emitted).size).toBe(emitted.length)
    expect(EVENTS.filter((event) => !emitted.includes(event))).toEqual([
      'fsp.monitoring',
      'fsp.monitoring.recovered',
    ])
  })

  test('and watch types filter the list of alerts; an unknown event is refused', async () => {
    const query = '?type=provider-fsp&event=fsp.monitoring'
    expect(await alice.request('GET', `/alerts${query}`)).toMatchObject({
      status: 200,
      body: { data: [] },
    })
    expect((await alice.request('GET', '/alerts?event=fsp.nothing')).status).toBe(400)
  })
})
