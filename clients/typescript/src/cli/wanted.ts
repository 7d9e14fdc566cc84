/** What a file asks for, checked against the schemas of the service. */
import type { Recipient, Settings, Watch, WatchTypeView } from '../generated/models.ts'
import type { Entry, Path, WatchFile } from './document.ts'
import { CommandError, FileError, type Mistake } from './problems.ts'
import { isObject, type Misfit, misfits, type Schemas, variantOf } from './schema.ts'

/** What the service has. */
export interface Present {
  readonly wallet: string
  readonly recipients: readonly Recipient[]
  readonly watches: readonly Watch[]
  readonly settings: Settings
  readonly schemas: Schemas
  /** The signals of the watch types that the file or the service has. */
  readonly types: ReadonlyMap<string, WatchTypeView>
}

/** A recipient of the file: the body that creates it, without what a file may leave out. */
export interface WantedRecipient {
  readonly label: string
  readonly channel: string
  readonly body: Readonly<Record<string, unknown>>
  readonly status: 'active' | 'disabled' | undefined
  readonly line: number
}

/** A watch of the file. Recipients are names here, and numbers in the service. */
export interface WantedWatch {
  readonly label: string
  readonly type: string
  /** Body of the request that creates it, without recipients. */
  readonly body: Readonly<Record<string, unknown>>
  readonly recipients: readonly string[]
  readonly escalateTo: readonly string[]
  readonly status: 'active' | 'paused'
  readonly line: number
}

/** A file whose values fit. Undefined sections are left alone. */
export interface Wanted {
  readonly recipients: readonly WantedRecipient[] | undefined
  readonly watches: readonly WantedWatch[] | undefined
  readonly settings: Readonly<Record<string, unknown>> | undefined
}

/** Values that this tool adds to those of the API. */
const STATUSES = { recipient: ['active', 'disabled'], watch: ['active', 'paused'] } as const

/**
 * Checks a file against a service.
 *
 * @throws FileError with the line of each mistake; CommandError for a file of another wallet
 */
export function readWanted(file: WatchFile, present: Present): Wanted {
  if (file.wallet !== undefined && file.wallet.toLowerCase() !== present.wallet.toLowerCase()) {
    throw new CommandError(
      `${file.path} is for ${file.wallet}, and the token is of ${present.wallet}`,
    )
  }
  const mistakes: Mistake[] = []
  const names = [
    ...(file.recipients ?? []).map(({ label }) => label),
    ...present.recipients.map(({ name }) => name),
  ]
  const context = { present, mistakes, names }
  const wanted = {
    recipients: file.recipients?.flatMap((entry) => recipientOf(context, entry)),
    watches: file.watches?.flatMap((entry) => watchOf(context, entry)),
    settings: file.settings && settingsOf(context, file.settings),
  }
  if (mistakes.length > 0) throw new FileError(file.path, mistakes)
  return wanted
}

interface Context {
  readonly present: Present
  readonly mistakes: Mistake[]
  readonly names: readonly string[]
}

function note({ mistakes }: Context, entry: Entry, found: readonly Misfit[]): void {
  const inEntry = entry.label === '' ? 'settings' : entry.label
  for (const { path, text } of found) {
    // The label is the name above the entry.
    const inside = path.filter((step) => step !== 'label' && step !== 'name')
    const place = [`"${inEntry}"`, ...inside].join(' › ')
    mistakes.push({ line: entry.lineOf(path), text: `${place} ${text}` })
  }
}

function recipientOf(context: Context, entry: Entry): readonly WantedRecipient[] {
  const { status, name, ...fields } = entry.fields
  const body = { minSeverity: 'info', ...fields, name: entry.label }
  const { schemas } = context.present
  const found = [
    ...(name === undefined ? [] : [{ path: ['name'], text: 'has its name above' }]),
    ...statusMisfits(status, STATUSES.recipient),
    ...variantMisfits(schemas, 'RecipientRequest', body, 'channel'),
  ]
  note(context, entry, found)
  if (found.length > 0) return []
  return [
    {
      label: entry.label,
      channel: String(fields['channel']),
      body,
      // Safe: checked above.
      status: status as WantedRecipient['status'],
      line: entry.lineOf([]),
    },
  ]
}

function watchOf(context: Context, entry: Entry): readonly WantedWatch[] {
  const { status, recipients, escalateTo, label, ...fields } = entry.fields
  const body = { ...fields, label: entry.label }
  const found = [
    ...(label === undefined ? [] : [{ path: ['label'], text: 'has its name above' }]),
    ...['recipientIds'].flatMap((key) =>
      key in fields ? [{ path: [key], text: 'has numbers; use recipients, which has names' }] : [],
    ),
    ...statusMisfits(status, STATUSES.watch),
    ...nameMisfits(context, 'recipients', recipients),
    ...nameMisfits(context, 'escalateTo', escalateTo),
    ...variantMisfits(context.present.schemas, 'WatchRequest', body, 'type'),
    ...signalMisfits(context.present, body),
  ]
  note(context, entry, found)
  if (found.length > 0) return []
  return [
    {
      label: entry.label,
      type: String(fields['type']),
      body,
      // Safe: checked above.
      recipients: (recipients ?? []) as readonly string[],
      escalateTo: (escalateTo ?? []) as readonly string[],
      status: (status ?? 'active') as WantedWatch['status'],
      line: entry.lineOf([]),
    },
  ]
}

function settingsOf(context: Context, entry: Entry): Readonly<Record<string, unknown>> {
  const { properties = {}, ...schema } = context.present.schemas['SettingsRequest'] ?? {}
  const { version: _version, maintenance: _maintenance, ...own } = properties
  const given = { ...schema, properties: own, required: [] }
  note(context, entry, misfits(context.present.schemas, given, entry.fields))
  return entry.fields
}

function statusMisfits(status: unknown, values: readonly string[]): readonly Misfit[] {
  const isFine = status === undefined || values.includes(String(status))
  return isFine ? [] : [{ path: ['status'], text: `must be ${values.join(' or ')}` }]
}

function nameMisfits({ names }: Context, field: string, value: unknown): readonly Misfit[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) return [{ path: [field], text: 'must be a list of names' }]
  return value.flatMap((name, index) =>
    typeof name === 'string' && names.includes(name)
      ? []
      : [{ path: [field, index], text: `names "${name}", which is no recipient` }],
  )
}

function variantMisfits(
  schemas: Schemas,
  name: string,
  body: Readonly<Record<string, unknown>>,
  key: string,
): readonly Misfit[] {
  const schema = schemas[name] ?? {}
  const variant = variantOf(schemas, schema, body)
  if (variant !== undefined) return misfits(schemas, variant, body)
  const values = (schema.oneOf ?? []).flatMap(($ref) => {
    const variants = variantKeys(schemas, $ref, key)
    return variants
  })
  return [
    { path: body[key] === undefined ? [] : [key], text: `needs ${key}: ${values.join(', ')}` },
  ]
}

function variantKeys(
  schemas: Schemas,
  reference: { $ref?: string },
  key: string,
): readonly unknown[] {
  const schema = schemas[reference.$ref?.split('/').at(-1) ?? '']?.properties?.[key]
  return schema?.enum ?? [schema?.const]
}

/** Signals and parameters that the type does not have. */
function signalMisfits({ types }: Present, body: Readonly<Record<string, unknown>>): Misfit[] {
  const signals = Array.isArray(body['signals']) ? body['signals'] : []
  const known = types.get(String(body['type']))?.signals
  if (known === undefined) return []
  const seen = new Set<unknown>()
  return signals.flatMap((choice: unknown, index): Misfit[] => {
    if (!isObject(choice)) return []
    const path: Path = ['signals', index]
    const isDouble = seen.has(choice['id'])
    seen.add(choice['id'])
    if (isDouble) return [{ path, text: `is the second one with the id ${choice['id']}` }]
    const signal = known.find(({ id }) => id === choice['id'])
    if (signal === undefined) {
      const ids = known.map(({ id }) => id).join(', ')
      return [{ path: [...path, 'id'], text: `is no signal of this type; known: ${ids}` }]
    }
    const keys = signal.parameters.map(({ key }) => key)
    const parameters = isObject(choice['parameters']) ? Object.keys(choice['parameters']) : []
    return parameters
      .filter((key) => !keys.includes(key))
      .map((key) => ({
        path: [...path, 'parameters', key],
        text: `is unknown; known: ${keys.join(', ') || 'none'}`,
      }))
  })
}
