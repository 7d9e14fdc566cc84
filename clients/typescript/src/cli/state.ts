import type { Watchdog } from '../client.ts'
import type { WatchFile } from './document.ts'
import { CommandError } from './problems.ts'
import { isObject, type Schemas } from './schema.ts'
import type { Present } from './wanted.ts'

/**
 * Reads what a file can be about: what the service has, and the schemas and signals that the file is checked with.
 *
 * @throws CommandError if the address is not one of this service
 */
export async function readPresent(
  watchdog: Watchdog,
  { watches = [] }: Pick<WatchFile, 'watches'>,
): Promise<Present> {
  const [{ wallet }, document, changing] = await Promise.all([
    watchdog.getAccount(),
    watchdog.getOpenApi(),
    readChanging(watchdog),
  ])
  const schemas = schemasOf(document)
  const known = typesOf(schemas)
  const named = new Set(watches.map(({ fields }) => String(fields['type'])))
  const views = await Promise.all(
    [...named]
      .filter((type) => known.includes(type))
      // Safe: a type of the document.
      .map((type) => watchdog.getWatchType(type as Parameters<Watchdog['getWatchType']>[0])),
  )
  return { ...changing, wallet, schemas, types: new Map(views.map((view) => [view.type, view])) }
}

/** The same after changes: schemas and signals stay as they are. */
export async function readAgain(watchdog: Watchdog, before: Present): Promise<Present> {
  return { ...before, ...(await readChanging(watchdog)) }
}

async function readChanging(watchdog: Watchdog) {
  const [settings, watches, recipients] = await Promise.all([
    watchdog.getSettings(),
    listed(watchdog.allWatches({ limit: PAGE })),
    listed(watchdog.allRecipients({ limit: PAGE })),
  ])
  return { settings, watches, recipients }
}

const PAGE = 100

async function listed<Item>(pages: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of pages) items.push(item)
  return items
}

function schemasOf(document: unknown): Schemas {
  const components = isObject(document) ? document['components'] : undefined
  const schemas = isObject(components) ? components['schemas'] : undefined
  if (!isObject(schemas) || !isObject(schemas['WatchRequest'])) {
    throw new CommandError('the address does not answer as Watchdog does')
  }
  // Safe: the schemas of an OpenAPI document.
  return schemas as Schemas
}

function typesOf(schemas: Schemas): readonly unknown[] {
  const variants = schemas['WatchRequest']?.oneOf ?? []
  return variants.map(({ $ref = '' }) => {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return schemas[name]?.properties?.['type']?.const
  })
}
