/** Compares what a file asks for with what the service has. Pure: nothing is requested. */
import type { Recipient, Watch } from '../generated/models.ts'
import { CommandError } from './problems.ts'
import { isObject, type Schema, type Schemas, variantOf } from './schema.ts'
import type { Present, Wanted, WantedRecipient, WantedWatch } from './wanted.ts'

/** A value that differs. */
export interface Change {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** One step towards the file. `body` is what the API is sent. */
export type Step =
  | {
      readonly kind: 'create'
      readonly what: 'recipient'
      readonly wanted: WantedRecipient
      readonly replaces: Recipient | undefined
    }
  | {
      readonly kind: 'create'
      readonly what: 'watch'
      readonly wanted: WantedWatch
      readonly replaces: Watch | undefined
    }
  | {
      readonly kind: 'change'
      readonly what: 'recipient'
      readonly wanted: WantedRecipient
      readonly present: Recipient
      readonly changes: readonly Change[]
      readonly body: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'change'
      readonly what: 'watch'
      readonly wanted: WantedWatch
      readonly present: Watch
      readonly changes: readonly Change[]
      readonly body: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'change'
      readonly what: 'settings'
      readonly changes: readonly Change[]
      readonly body: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'delete'; readonly what: 'recipient'; readonly present: Recipient }
  | { readonly kind: 'delete'; readonly what: 'watch'; readonly present: Watch }

/** Everything that separates the service from the file. */
export interface Plan {
  readonly steps: readonly Step[]
  /** Chats of the file that nobody has linked yet. */
  readonly unlinked: readonly string[]
  /** What is not as a reader of the file expects, and no step changes it. */
  readonly notes: readonly string[]
}

/**
 * The steps towards a file, in the order in which they are safe: recipients, watches that go, watches, recipients that
 * go, settings.
 *
 * @param prune whether what the file does not name is deleted, and what cannot be changed is replaced
 * @throws CommandError if a name of the file stands for several things in the service, or a replacement needs `prune`
 */
export function makePlan(present: Present, wanted: Wanted, prune: boolean): Plan {
  const recipients = (wanted.recipients ?? []).filter(({ channel }) => channel !== 'telegram')
  const chats = (wanted.recipients ?? []).filter(({ channel }) => channel === 'telegram')
  const ofRecipients = recipients.flatMap((one) => recipientSteps(present, one, prune))
  const ofChats = chats.flatMap((one) => recipientSteps(present, one, false))
  const unlinked = ofChats.flatMap((step) => (step.kind === 'create' ? [step.wanted.label] : []))
  const ofWatches = (wanted.watches ?? []).flatMap((one) =>
    watchSteps(present, one, { prune, unlinked }),
  )
  const gone = leftovers(present, wanted)
  return {
    steps: [
      ...ofRecipients,
      ...ofChats.filter(({ kind }) => kind === 'change'),
      ...(prune ? gone.watches.map((one) => deletion('watch', one)) : []),
      ...ofWatches,
      ...(prune ? gone.recipients.map((one) => deletion('recipient', one)) : []),
      ...settingsSteps(present, wanted),
    ],
    unlinked,
    notes: [...notesAbout(present, wanted), ...(prune ? [] : keptNotes(gone))],
  }
}

type Gone = ReturnType<typeof leftovers>

/** What the service has and the file does not name. Chats are linked by people, and stay. */
function leftovers(present: Present, wanted: Wanted) {
  const isNamed = (list: readonly { readonly label: string }[], name: string) =>
    list.some(({ label }) => label === name)
  const { watches, recipients } = wanted
  return {
    watches: watches ? present.watches.filter(({ label }) => !isNamed(watches, label)) : [],
    recipients: recipients
      ? present.recipients.filter(
          ({ name, channel }) => channel !== 'telegram' && !isNamed(recipients, name),
        )
      : [],
  }
}

function keptNotes({ watches, recipients }: Gone): readonly string[] {
  const names = [
    ...watches.map(({ label }) => `watch "${label}"`),
    ...recipients.map(({ name }) => `recipient "${name}"`),
  ]
  return names.map((name) => `${name} is not in the file, and stays (--prune deletes it)`)
}

function deletion(what: 'watch', present: Watch): Step
function deletion(what: 'recipient', present: Recipient): Step
function deletion(what: 'watch' | 'recipient', present: Watch | Recipient): Step {
  // Safe: the overloads pair the two.
  return { kind: 'delete', what, present } as Step
}

/** What needs a person: mailboxes that wait for their reader, destinations that are off, watches without a slot. */
function notesAbout(present: Present, wanted: Wanted): readonly string[] {
  const recipients = (wanted.recipients ?? []).flatMap(({ label, status }): string[] => {
    const found = present.recipients.find(({ name }) => name === label)
    if (found === undefined || found.status === 'active' || found.status === status) return []
    if (found.status === 'pending') {
      return [`recipient "${label}" waits: its reader must confirm ${found.target}`]
    }
    return [`recipient "${label}" is ${found.status} (${found.statusReason ?? 'no reason'})`]
  })
  const watches = (wanted.watches ?? []).flatMap(({ label }): string[] => {
    const found = present.watches.find((watch) => watch.label === label)
    if (found?.status === 'suspended') return [`watch "${label}" is suspended: it has no slot`]
    return found?.warnings.includes('nobody_is_notified')
      ? [`watch "${label}" notifies nobody`]
      : []
  })
  return [...recipients, ...watches]
}

/** The one thing of a name. @throws CommandError for several */
function only<Item>(what: string, label: string, found: readonly Item[]): Item | undefined {
  if (found.length < 2) return found[0]
  throw new CommandError(
    `the service has ${found.length} ${what} named "${label}": rename or delete all but one`,
  )
}

function requirePrune(prune: boolean, what: string, label: string, fields: string): void {
  if (prune) return
  throw new CommandError(
    `${what} "${label}" has another ${fields} in the service, which cannot be changed: --prune deletes it and creates it anew`,
  )
}

function recipientSteps(present: Present, wanted: WantedRecipient, prune: boolean): Step[] {
  const { label, channel, body } = wanted
  const same = present.recipients.filter(({ name }) => name === label)
  const found = only('recipients', label, same)
  if (found === undefined) {
    return [{ kind: 'create', what: 'recipient', wanted, replaces: undefined }]
  }
  if (found.channel !== channel) {
    requirePrune(prune, 'recipient', label, 'channel')
    return [{ kind: 'create', what: 'recipient', wanted, replaces: found }]
  }
  const changes = recipientChanges(wanted, found)
  if (changes.length === 0) return []
  const isMoved = changes.some(({ field }) => field === 'url' || field === 'address')
  const fields = changes.map(({ field }) => field)
  const sent = Object.fromEntries(
    Object.entries({ ...body, status: wanted.status }).filter(([key]) => fields.includes(key)),
  )
  return [
    {
      kind: 'change',
      what: 'recipient',
      wanted,
      present: found,
      changes: changes.map((change) =>
        isMoved && (change.field === 'url' || change.field === 'address')
          ? { ...change, after: 'another destination' }
          : change,
      ),
      body: sent,
    },
  ]
}

/** How a recipient differs. What the file leaves out is left alone, except for the least severity. */
export function recipientChanges(wanted: WantedRecipient, present: Recipient): readonly Change[] {
  const { name: _name, channel: _channel, ...fields } = wanted.body
  const given = { ...fields, ...(wanted.status && { status: wanted.status }) }
  return Object.entries(given).flatMap(([field, after]): Change[] => {
    if (field === 'url' || field === 'address') {
      return isMaskOf(present, String(after)) ? [] : [{ field, before: present.target, after }]
    }
    // Safe: the fields of a request are fields of the answer.
    const before = present[field as keyof Recipient]
    return isSame(before, after) ? [] : [{ field, before, after }]
  })
}

/**
 * Whether a masked destination may be this one: what the mask shows must be in it, in this order, and what follows an
 * ellipsis must end a part of it.
 */
function isMaskOf({ target, channel }: Recipient, destination: string): boolean {
  const shown = target.startsWith(`${channel} `) ? target.slice(channel.length + 1) : target
  const [first = '', ...others] = shown.split('…').map(escaped)
  const pattern = [first, ...others.map((part) => `${part}(?![\\w-])`)].join('.*')
  return new RegExp(pattern, 'i').test(destination)
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

function watchSteps(
  present: Present,
  wanted: WantedWatch,
  { prune, unlinked }: { readonly prune: boolean; readonly unlinked: readonly string[] },
): Step[] {
  const { label } = wanted
  const found = only(
    'watches',
    label,
    present.watches.filter((watch) => watch.label === label),
  )
  if (found === undefined) return [{ kind: 'create', what: 'watch', wanted, replaces: undefined }]
  if (found.type !== wanted.type || !isSame(found.target, wanted.body['target'])) {
    requirePrune(prune, 'watch', label, found.type === wanted.type ? 'target' : 'type')
    return [{ kind: 'create', what: 'watch', wanted, replaces: found }]
  }
  const { changes, body } = watchChanges(present, wanted, found, unlinked)
  if (changes.length === 0) return []
  return [{ kind: 'change', what: 'watch', wanted, present: found, changes, body }]
}

/**
 * How a watch differs, and the request that ends it. What the file leaves out has its default.
 *
 * @param unlinked names of chats that do not exist yet: a watch names them from the next time on
 */
export function watchChanges(
  present: Present,
  wanted: WantedWatch,
  found: Watch,
  unlinked: readonly string[] = [],
): { readonly changes: readonly Change[]; readonly body: Readonly<Record<string, unknown>> } {
  const { body } = wanted
  const names = new Map(present.recipients.map(({ id, name }) => [id, name]))
  const ids = new Map(present.recipients.map(({ id, name }) => [name, id]))
  const nameAll = (list: readonly number[] | null) =>
    (list ?? []).map((id) => names.get(id) ?? `#${id}`).toSorted()
  const reachable = (list: readonly string[]) =>
    [...new Set(list)].filter((name) => !unlinked.includes(name)).toSorted()
  const numbers = (list: readonly string[]) => list.flatMap((name) => ids.get(name) ?? [])

  const fields = [
    ['minSeverity', found.minSeverity, body['minSeverity'] ?? 'info'],
    ['cooldownSeconds', found.cooldownSeconds, body['cooldownSeconds'] ?? 0],
    ['escalateAfterMinutes', found.escalateAfterMinutes, body['escalateAfterMinutes'] ?? null],
    ['status', found.status === 'suspended' ? wanted.status : found.status, wanted.status],
  ] as const
  const lists = [
    ['recipients', 'recipientIds', nameAll(found.recipientIds), reachable(wanted.recipients)],
    ['escalateTo', 'escalateTo', nameAll(found.escalateTo), reachable(wanted.escalateTo)],
  ] as const
  const settings = settingChanges(present.schemas, body, found.settings)
  const signals = signalChanges(present, body, found)
  const plain = fields.filter(([, before, after]) => !isSame(before, after))
  const listed = lists.filter(([, , before, after]) => !isSame(before, after))
  return {
    changes: [
      ...settings.map(({ field, ...rest }) => ({ field: `settings.${field}`, ...rest })),
      ...signals.changes,
      ...listed.map(([field, , before, after]) => ({ field, before, after })),
      ...plain.map(([field, before, after]) => ({ field, before, after })),
    ],
    body: {
      ...(settings.length > 0 && {
        settings: Object.fromEntries(settings.map(({ field, after }) => [field, after])),
      }),
      ...(signals.sent.length > 0 && { signals: signals.sent }),
      ...Object.fromEntries(listed.map(([, key, , after]) => [key, numbers(after)])),
      ...Object.fromEntries(plain.map(([field, , after]) => [field, after])),
    },
  }
}

/** Settings by field; a field that the file leaves out has its default, or is null. */
function settingChanges(
  schemas: Schemas,
  body: Readonly<Record<string, unknown>>,
  stored: unknown,
): readonly Change[] {
  const schema = variantOf(schemas, schemas['WatchRequest'] ?? {}, body)?.properties?.['settings']
  const properties: Readonly<Record<string, Schema>> = schema?.properties ?? {}
  const wanted = isObject(body['settings']) ? body['settings'] : {}
  const present = isObject(stored) ? stored : {}
  return Object.entries(properties).flatMap(([field, { default: standard }]): Change[] => {
    const before = present[field] ?? standard ?? null
    const after = wanted[field] ?? standard ?? null
    // A number that has no default and that nobody names is the service's own.
    const isOwn = !(field in wanted) && standard === undefined && !allowsNull(properties[field])
    return isOwn || isSame(before, after) ? [] : [{ field, before, after }]
  })
}

function allowsNull(schema: Schema | undefined): boolean {
  return schema?.anyOf?.some(({ type }) => type === 'null') ?? false
}

/** The signals of a watch, of which a file names those that differ from their defaults. */
function signalChanges(
  { types }: Present,
  body: Readonly<Record<string, unknown>>,
  found: Watch,
): { readonly changes: readonly Change[]; readonly sent: readonly unknown[] } {
  const chosen = Array.isArray(body['signals']) ? body['signals'].filter(isObject) : []
  const known = types.get(found.type)?.signals ?? []
  const changes: Change[] = []
  const sent: unknown[] = []
  for (const present of found.signals) {
    const signal = known.find(({ id }) => id === present.id)
    if (signal === undefined) continue
    const choice = chosen.find(({ id }) => id === present.id) ?? {}
    const recovery = isObject(choice['recovery']) ? choice['recovery'] : { enabled: true }
    const parameters = isObject(choice['parameters']) ? choice['parameters'] : {}
    const wanted = {
      id: present.id,
      enabled: choice['enabled'] ?? signal.defaultEnabled,
      ...(present.recovery && { recovery }),
      parameters: {
        ...Object.fromEntries(signal.parameters.map(({ key, default: value }) => [key, value])),
        ...parameters,
      },
    }
    const differing = [
      ['enabled', present.enabled, wanted.enabled],
      ['recovery', present.recovery?.enabled, present.recovery && recovery['enabled']],
      ...Object.entries(wanted.parameters).map(
        ([key, after]) => [key, present.parameters[key], after] as const,
      ),
    ].filter(([, before, after]) => !isSame(before, after))
    for (const [key, before, after] of differing) {
      changes.push({ field: `signals.${present.id}.${key}`, before, after })
    }
    if (differing.length > 0) sent.push(wanted)
  }
  return { changes, sent }
}

function settingsSteps({ settings }: Present, wanted: Wanted): Step[] {
  const given = wanted.settings ?? {}
  const changes = Object.entries(given).flatMap(([field, after]): Change[] => {
    // Safe: the fields of the request are fields of the answer.
    const before = settings[field as keyof typeof settings]
    return isSame(before, after) ? [] : [{ field, before, after }]
  })
  if (changes.length === 0) return []
  const { version: _version, maintenance: _maintenance, ...others } = settings
  return [{ kind: 'change', what: 'settings', changes, body: { ...others, ...given } }]
}

/** Whether two values are the same. Addresses may differ in the case of their letters. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string' && /^0x[0-9a-f]+$/i.test(one)) {
    return one.toLowerCase() === other.toLowerCase()
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => isSame(one[key], other[key]))
}
