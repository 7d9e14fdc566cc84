import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'

/** A provider with its name. */
export const NamedProvider = z.object({ provider: Address, name: z.string() })
export type NamedProvider = z.output<typeof NamedProvider>

/** Search text: a part of a name, or an identity address. */
export const ProviderSearch = z.strictObject({ text: z.string().max(200) })

const FOUND_MAX = 6

/** All providers with a public name, sorted by name. Empty if no names are published. */
export async function listNamedProviders({
  facts,
}: {
  readonly facts: WatchTypeFacts
}): Promise<NamedProvider[]> {
  return [...(await facts.providerNames())]
    .map(([provider, name]) => ({ provider, name }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

/**
 * Providers whose name contains the text, or whose identity address equals the text; at most `FOUND_MAX`.
 * Sorted by the position of the text in the name, then by name. Empty if no names are published.
 */
export async function searchProviders(
  { facts }: { readonly facts: Pick<WatchTypeFacts, 'providerNames'> },
  { text }: z.output<typeof ProviderSearch>,
): Promise<NamedProvider[]> {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  const places = [...(await facts.providerNames())].flatMap(([provider, name]) => {
    const place = provider.toLowerCase() === wanted ? 0 : name.toLowerCase().indexOf(wanted)
    return place < 0 ? [] : [{ provider, name, place }]
  })
  return places
    .toSorted((a, b) => a.place - b.place || a.name.localeCompare(b.name, 'en'))
    .slice(0, FOUND_MAX)
    .map(({ provider, name }) => ({ provider, name }))
}
