/** What anybody can check about an alert on the chain, without trusting this service. */
import { z } from 'zod'
import { firstBlockAt } from '#src/chain/block-search.ts'
import type { BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { decodeSubmission } from '#src/fsp/protocol/framing.ts'
import { readTransactionProof } from '#src/fsp/reader/transaction-proofs.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { type Hash, JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import type { EvidenceClaim, Unproven } from '#src/watches/evidence-model.ts'
import type { AlertEvidence, EvidenceSources, EvidenceTransaction } from './evidence-model.ts'
import {
  accountsOf,
  beginningOf,
  selectorsOf,
  sourcesOf,
  transactionsOf,
} from './evidence-sources.ts'
import type { ReadDeps } from './history.ts'
import { follow, helpOf } from './public-view.ts'
import * as store from './store.ts'

type Deps = ReadDeps & { readonly chain: FspChain; readonly chainId: number }

/**
 * Reads the evidence of a wallet's alert. Nothing is stored for it: the claim follows from the alert, the
 * blocks and transactions are read from the chain.
 *
 * @throws AppError not_found, upstream
 */
export async function getEvidence(
  deps: Deps,
  caller: Caller,
  { id, locale }: { readonly id: number; readonly locale: Locale },
): Promise<AlertEvidence> {
  const row = await store.findAlert(deps.db, id)
  if (row === undefined || row.wallet !== caller.wallet)
    throw new AppError('not_found', 'not_found')
  return evidenceOf(deps, row, locale)
}

/**
 * Reads the evidence of the alert behind a signed link; undefined for a forged link or a deleted alert.
 *
 * @throws AppError upstream
 */
export async function readLinkedEvidence(
  deps: Deps,
  code: string,
  locale?: Locale,
): Promise<{ readonly evidence: AlertEvidence; readonly locale: Locale } | undefined> {
  const linked = await follow(deps, code)
  if (linked === undefined) return undefined
  const { row, recipient } = linked
  const language = locale ?? recipient?.locale ?? 'en'
  return { evidence: await evidenceOf(deps, row, language), locale: language }
}

async function evidenceOf(deps: Deps, row: store.AlertRow, locale: Locale): Promise<AlertEvidence> {
  const data = JsonObject.parse(row.data)
  const found = claimOf(row, data)
  const claim = typeof found === 'string' ? null : found
  const { checked } = helpOf(locale, row.type, row.signal)
  return {
    version: 1,
    alertId: row.id,
    chainId: deps.chainId,
    event: row.event,
    severity: z.enum(SEVERITIES).parse(row.severity),
    firedAt: row.firedAt,
    rule: checked ?? null,
    data,
    claim,
    unproven: typeof found === 'string' ? found : null,
    ...(claim === null
      ? { blocks: null, sources: NO_SOURCES, transactions: [] }
      : {
          blocks: await readBlocks(deps, row, claim, data),
          sources: await readSources(deps, claim, data),
          transactions: await readTransactions(deps, transactionsOf(data)),
        }),
  }
}

const NO_SOURCES: EvidenceSources = { contracts: [], accounts: [], functions: [], events: [] }

/** The claim of an alert, or the reason why it has none. */
function claimOf({ event, position }: store.AlertRow, data: JsonObject): EvidenceClaim | Unproven {
  const source = findEventSource(event)
  const derive = source?.signal.claim
  if (derive === undefined) return 'other'
  if (source?.isRecovery) return 'recovery'
  return derive(data, { event, block: position })
}

/** The first and the last block that were read for a claim; null where endpoints lack the last one. */
async function readBlocks(
  { chain }: Deps,
  { position }: store.AlertRow,
  claim: EvidenceClaim,
  data: JsonObject,
): Promise<AlertEvidence['blocks']> {
  const to = await chain.blockAt(claim.kind === 'failed-call' ? claim.block : position)
  if (to === undefined) return null
  const beginning = beginningOf(claim, data)
  if (beginning === undefined) return { first: null, last: to }
  const from: BlockRef | undefined =
    'block' in beginning
      ? await chain.blockAt(Math.min(beginning.block, to.number))
      : await firstBlockAt(chain, beginning.seconds, to)
  return { first: from ?? null, last: to }
}

async function readSources(
  { chain }: Deps,
  claim: EvidenceClaim,
  data: JsonObject,
): Promise<EvidenceSources> {
  const { contracts, functions, events } = sourcesOf(claim)
  const { access } = chain
  return {
    contracts: await access.endpoints.ask(
      (client) =>
        Promise.all(
          contracts.map(async (name) => ({
            name,
            addresses: [...(await access.contracts.all(client, name))],
          })),
        ),
      undefined,
    ),
    accounts: [...accountsOf(data)],
    functions: selectorsOf(functions),
    events: [...events],
  }
}

/** The transactions that endpoints still have. */
async function readTransactions(
  { chain }: Deps,
  hashes: readonly Hash[],
): Promise<EvidenceTransaction[]> {
  const found = await Promise.all(hashes.map((hash) => readTransactionProof(chain.access, hash)))
  return found.flatMap((proof) => {
    if (proof === undefined) return []
    const submission = decodeSubmission(proof.input)
    const frames = (submission?.frames ?? []).map(({ protocol, round, payload }) => ({
      protocol,
      round,
      bytes: payload.length,
      payload: `0x${Buffer.from(payload).toString('hex')}`,
    }))
    const { from, to, ...place } = proof
    return [
      { ...place, sender: from, receiver: to, function: submission?.function ?? null, frames },
    ]
  })
}
