/** The watches whose week is told in a card. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { Address } from '#src/kernel/units.ts'
import { listWatches, type WatchRow } from '../store.ts'

/** A provider, or a wallet with its last known balance. */
export interface CardSubject {
  readonly watchId: number
  readonly label: string
  readonly isProvider: boolean
  readonly address: Address
  readonly balance?: { readonly units: string; readonly decimals: number; readonly symbol: string }
}

/** Number of watches among which the subjects are looked for, the oldest first. */
const WATCHES_READ = 50

const ProviderTarget = z.object({ provider: Address })
const WalletTarget = z.object({ address: Address })
const Balance = z.object({ balanceUnits: z.string(), decimals: z.int(), symbol: z.string() })

/** Running watches on providers, then on balances, the oldest first. One that cannot be read is left out. */
export async function listCardSubjects(
  db: Db,
  wallet: Address,
  limit: number,
): Promise<readonly CardSubject[]> {
  const rows = await listWatches(db, wallet, 0, WATCHES_READ)
  const subjects = rows.filter(({ status }) => status === 'active').flatMap(subjectOf)
  const providers = subjects.filter(({ isProvider }) => isProvider)
  const wallets = subjects.filter(({ isProvider }) => !isProvider)
  return [...providers, ...wallets].slice(0, limit)
}

function subjectOf({ id: watchId, type, label, target, observation }: WatchRow): CardSubject[] {
  if (type === 'provider-fsp') {
    const { data } = ProviderTarget.safeParse(target)
    return data === undefined ? [] : [{ watchId, label, isProvider: true, address: data.provider }]
  }
  if (type !== 'wallet-balance') return []
  const { data } = WalletTarget.safeParse(target)
  if (data === undefined) return []
  const seen = Balance.safeParse(observation).data
  const { balanceUnits: units = '', decimals = 0, symbol = '' } = seen ?? {}
  return [
    {
      watchId,
      label,
      isProvider: false,
      address: data.address,
      ...(seen !== undefined && { balance: { units, decimals, symbol } }),
    },
  ]
}
