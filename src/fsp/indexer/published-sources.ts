/** Whether the addresses of published data can be read, as all processes know it. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { PChain } from '#src/chain/pchain.ts'
import type { Db } from '#src/db/connection.ts'
import { type Fence, transactUnder } from '#src/db/leases.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import { Instant } from '#src/kernel/units.ts'
import * as store from './store.ts'

/** Variables whose addresses are read, with the time for which one that was read before may fail. */
const LATE_MS = {
  PROVIDER_DATASET_URL: 30 * MINUTE_MS,
  REWARD_DATA_URLS: 15 * MINUTE_MS,
  P_CHAIN_RPC_URL: 3 * MINUTE_MS,
} as const
type Variable = keyof typeof LATE_MS

/** A configured address. */
export interface PublishedSource {
  readonly variable: Variable
  /** Place of the address in the list of its variable. */
  readonly position: number
  /** Host and port, which contain no key. */
  readonly host: string
  /** Digest of the address: what is known of another one says nothing about it. */
  readonly id: string
}

/** Result of a reading. `absent`: the host answers that it has published nothing. */
export type SourceReading =
  | { readonly is: 'read' }
  | { readonly is: 'absent' }
  | { readonly is: 'failed'; readonly reason: string }

/** An address that cannot be read, for the operator. */
export interface SourceProblem {
  readonly source: PublishedSource
  /** Whether it was never read. */
  readonly isNew: boolean
  readonly failingSince: Date
  readonly reason: string
  /** Whether its host answers, though without data. */
  readonly isAnswering: boolean
}

const State = z.object({
  id: z.string(),
  readAt: Instant.nullable(),
  failingSince: Instant.nullable(),
  reason: z.string(),
  isAnswering: z.boolean(),
})
type State = z.output<typeof State>

const NOTHING_PUBLISHED = 'nothing is published there (status 404)'

/** The configured addresses of published data. */
export function publishedSources({
  datasetUrl,
  rewardDataUrls,
  pChain,
}: {
  readonly datasetUrl: string | undefined
  readonly rewardDataUrls: readonly string[]
  readonly pChain: Pick<PChain, 'url'> | undefined
}): readonly PublishedSource[] {
  const of = (variable: Variable, urls: readonly (string | undefined)[]) =>
    urls.flatMap((url, position): PublishedSource[] => {
      if (url === undefined) return []
      const id = createHash('sha256').update(url).digest('base64url')
      return [{ variable, position, host: new URL(url).host, id }]
    })
  return [
    ...of('PROVIDER_DATASET_URL', [datasetUrl]),
    ...of('REWARD_DATA_URLS', rewardDataUrls),
    ...of('P_CHAIN_RPC_URL', [pChain?.url]),
  ]
}

const kindOf = ({ variable }: PublishedSource) => `reading of ${variable}`

async function findState(db: Db, source: PublishedSource): Promise<State | undefined> {
  const [row] = await store.listPublications(db, kindOf(source), [source.position])
  const state = row && State.safeParse(row.data).data
  return state?.id === source.id ? state : undefined
}

/**
 * Records readings of the addresses: stored for all processes, counted, and logged when one begins to fail, with each
 * further failure (they are a minute or more apart), and when it can be read again.
 */
export function createSourceRecorder({
  db,
  clock,
  log,
  meters,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly meters?: Pick<Meters, 'countSourceReading'> | undefined
}) {
  return async (
    source: PublishedSource,
    reading: SourceReading,
    fence: Fence | undefined,
  ): Promise<void> => {
    const now = clock.now()
    const before = await findState(db, source)
    const after = stateAfter(source, before, reading, now)
    const { variable, host } = source
    meters?.countSourceReading(variable, after.failingSince === null)
    if (after.failingSince !== null) {
      const fields = { variable, host, reason: after.reason, since: after.failingSince }
      const isFirst = before?.failingSince == null
      log.warn(
        fields,
        isFirst ? 'published data cannot be read' : 'published data still cannot be read',
      )
    } else if (before?.failingSince != null) {
      log.info({ variable, host, since: before.failingSince }, 'published data can be read again')
    }
    const row = { kind: kindOf(source), rewardEpochId: source.position, seenAt: now }
    await transactUnder(fence, db, (tx) =>
      store.savePublication(tx, { ...row, data: z.encode(State, after) }),
    )
  }
}

function stateAfter(
  { id }: PublishedSource,
  before: State | undefined,
  reading: SourceReading,
  now: Date,
): State {
  const readAt = before?.readAt ?? null
  const isRead = reading.is === 'read'
  // A source that was read before and answers may have nothing new.
  if (isRead || (reading.is === 'absent' && readAt !== null)) {
    return { id, readAt: now, failingSince: null, reason: '', isAnswering: true }
  }
  const isAnswering = reading.is === 'absent'
  const reason = isAnswering ? NOTHING_PUBLISHED : reading.reason
  return { id, readAt, failingSince: before?.failingSince ?? now, reason, isAnswering }
}

/**
 * The addresses that cannot be read: from the first failure on if they were never read, otherwise when they have failed
 * for several of their periods.
 */
export async function listSourceProblems(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  sources: readonly PublishedSource[],
): Promise<readonly SourceProblem[]> {
  const nowMs = clock.now().getTime()
  const states = await Promise.all(sources.map((source) => findState(db, source)))
  return sources.flatMap((source, index): SourceProblem[] => {
    const state = states[index]
    if (state === undefined || state.failingSince === null) return []
    const { failingSince, reason, isAnswering } = state
    const isNew = state.readAt === null
    if (!isNew && nowMs - failingSince.getTime() < LATE_MS[source.variable]) return []
    return [{ source, isNew, failingSince, reason, isAnswering }]
  })
}
