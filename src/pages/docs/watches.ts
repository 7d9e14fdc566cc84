/** Watch types, signals and events for the docs. */

import { exampleEnvelope } from '#src/alerts/messages/example.ts'
import type { Message } from '#src/channels/envelope.ts'
import { decimalNumber, formatChance } from '#src/i18n/chance.ts'
import { HELP_TEXTS } from '#src/i18n/signal-help.ts'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import type { App } from '#src/operations/define.ts'
import { WATCH_TYPE_EXAMPLES } from '#src/operations/examples/watch-types.ts'
import { API_PREFIX } from '#src/operations/openapi/openapi.ts'
import type { WatchTypeDefinition } from '#src/watches/define.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import type { Parameter, SignalDefinition } from '#src/watches/signal.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import { parseHelpText } from '../help-text.ts'
import { onceEach } from '../once-each.ts'
import { callExamples } from './calls.ts'

/** Every offered watch type, for the list. */
export function watchTypes(app: App, t: Translate) {
  return offeredTypes(app).map(({ name }) => ({
    name,
    path: typePath(name),
    label: t(checkedKey(`bot:button.type.${name}`)),
    description: t(checkedKey(`signals:type.${name}.description`)),
  }))
}

/** A watch type of the catalogue; undefined for an unknown name. */
export function findOfferedType(app: App, name: string): WatchTypeDefinition | undefined {
  return offeredTypes(app).find((type) => type.name === name)
}

/** Watch types that are offered; types about credits are left out if billing is off. */
export function offeredTypes({ billing }: App): readonly WatchTypeDefinition[] {
  return WATCH_TYPES.filter(({ reads }) => reads === 'chain' || billing.enabled)
}

/** One watch type, with its signals by group. */
export function typeDoc(app: App, t: Translate, { name, signals }: WatchTypeDefinition) {
  const groups = SIGNAL_GROUPS.filter((group) => signals.some((signal) => signal.group === group))
  return {
    title: t(checkedKey(`bot:button.type.${name}`)),
    name,
    description: t(checkedKey(`signals:type.${name}.description`)),
    calls: callExamples({
      method: 'POST',
      address: `${app.publicUrl}${API_PREFIX}/watches`,
      isAuthenticated: true,
      body: { type: name, ...WATCH_TYPE_EXAMPLES[name] },
      answer: 'json',
    }),
    groups: groups.map((group) => ({
      id: group,
      label: t(checkedKey(`signals:group.${group}.label`)),
      help: t(checkedKey(`signals:group.${group}.help`)),
      signals: signals
        .filter((signal) => signal.group === group)
        .map((signal) => ({
          id: signal.id,
          path: `${typePath(name)}/${signal.id}`,
          label: t(checkedKey(`signals:${name}.${signal.id}.label`)),
          description: t(checkedKey(`signals:${name}.${signal.id}.description`)),
          isOff: !signal.defaultEnabled,
        })),
    })),
  }
}

/** One signal: its help, parameters, and every event with an example. */
export function signalDoc(
  app: App,
  t: Translate,
  type: WatchTypeDefinition,
  signal: SignalDefinition,
) {
  const prefix = `signals:${type.name}.${signal.id}`
  const { alerts, recovery } = signal.events
  return {
    title: t(checkedKey(`${prefix}.label`)),
    id: signal.id,
    description: t(checkedKey(`${prefix}.description`)),
    type: { path: typePath(type.name), label: t(checkedKey(`bot:button.type.${type.name}`)) },
    isOff: !signal.defaultEnabled,
    canBeCritical: signal.canBeCritical,
    help: HELP_TEXTS.map((part) => ({
      title: t(`pages:alert.help.${part}`),
      blocks: parseHelpText(t(checkedKey(`${prefix}.help.${part}`))),
    })),
    parameters: signal.parameters.map((parameter) => parameterDoc(t, prefix, parameter)),
    events: [...alerts, ...(recovery === undefined ? [] : [recovery])].map((event) =>
      eventDoc(app, t, event),
    ),
  }
}

function parameterDoc(t: Translate, prefix: string, parameter: Parameter) {
  const { key } = parameter
  const texts = {
    key,
    label: t(checkedKey(`${prefix}.${key}.label`)),
    help: t(checkedKey(`${prefix}.${key}.help`)),
  }
  if (parameter.type === 'boolean') return { ...texts, default: String(parameter.default) }
  const values = [parameter.default, parameter.min, parameter.max]
  const [usual, ...bounds] = values.map(decimalNumber)
  const json = { default: usual, bounds: bounds.join(' – ') }
  if (parameter.type === 'integer') return { ...texts, ...json }
  const [likely, ...chances] = values.map((value) => formatChance(value, t.locale))
  return { ...texts, default: likely, chances, json }
}

function exampleMessage(app: App, t: Translate, event: string, severity: Severity): Message {
  const { clock, publicUrl } = app
  const reader = { locale: t.locale, timezone: 'UTC' }
  return exampleEnvelope(event, reader, { severity, firedAt: clock.now(), publicUrl }).message
}

/** An event's example message and data. */
function eventDoc(app: App, t: Translate, event: string) {
  const source = findEventSource(event)
  if (source === undefined) return { event, message: undefined, data: undefined }
  const severity = source.isRecovery ? 'info' : 'warning'
  const { title, body } = exampleMessage(app, t, event, severity)
  return {
    event,
    message: { title, paragraphs: body.split('\n').filter((line) => line !== '') },
    data: JSON.stringify(source.signal.examples[event], undefined, 2),
  }
}

/** All events, with links to their documentation. Every title is that of a whole example. */
export const eventList = onceEach((app: App, t) => {
  const typeOf = (event: string, types: readonly WatchTypeDefinition[]) =>
    types.find(({ signals }) => signals.some((signal) => emits(signal, event)))
  const offered = offeredTypes(app)
  const shown = EVENTS.filter((event) => {
    return typeOf(event, WATCH_TYPES) === undefined || typeOf(event, offered) !== undefined
  })
  return shown.map((event) => {
    const type = typeOf(event, offered)
    const signal = type?.signals.find((signal) => emits(signal, event))
    const source = findEventSource(event)
    const message = source && exampleMessage(app, t, event, 'warning')
    return {
      event,
      title: message?.title,
      isRecovery: event === signal?.events.recovery || source?.isRecovery === true,
      canBeCritical: signal?.canBeCritical === true,
      path: type && signal && `${typePath(type.name)}/${signal.id}`,
      when:
        type && signal ? t(checkedKey(`signals:${type.name}.${signal.id}.description`)) : undefined,
    }
  })
})

function emits({ events }: SignalDefinition, event: string): boolean {
  return events.alerts.includes(event) || events.recovery === event
}

/** Page of a watch type. */
export function typePath(name: string): string {
  return `/docs/watches/${name}`
}
