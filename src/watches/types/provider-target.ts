import { z } from 'zod'
import type { FspChain } from '#src/fsp/chain.ts'
import { shortAddress } from '#src/i18n/format.ts'
import type { DisplayValue } from '#src/kernel/display-values.ts'
import { Address } from '#src/kernel/units.ts'

/** A data provider, by its identity address; any of its other addresses is resolved. */
export const ProviderTarget = z.strictObject({ provider: Address })
export type ProviderTarget = z.output<typeof ProviderTarget>

/** Resolves the target to the provider's identity. */
export async function resolveProvider(
  { chain }: { readonly chain: FspChain },
  { provider }: ProviderTarget,
): Promise<ProviderTarget> {
  return { provider: await chain.protocol.identityOf(provider) }
}

/** Default label of a watch on a provider. */
export function providerLabel({ provider }: ProviderTarget): string {
  return shortAddress(provider)
}

/** A provider in a sentence: its name, if the name is known. */
export function providerName(provider: Address, name: string | null): DisplayValue {
  return name === null ? { kind: 'address', address: provider } : { kind: 'name', text: name }
}

/** Form fields for a provider. */
export const PROVIDER_FIELDS = [{ key: 'provider', kind: 'provider' }] as const

/** Display values of the provider in the texts of its watches. */
export function providerDisplayValues(provider: Address) {
  return { provider: { kind: 'address', address: provider } } as const
}
