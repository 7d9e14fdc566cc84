/** Evidence of an alert: what anybody can check on the chain without trusting this service. */
import { z } from 'zod'
import type { EnvelopeMessage } from '#src/channels/envelope.ts'
import { signalHelp } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import type { EvidenceClaim, UnprovenReason } from '#src/watches/evidence-model.ts'
import type { ReadDeps } from '../history/history.ts'
import { findLinkedAlert } from '../history/public-view.ts'
import type { Reader } from '../messages/render.ts'
import { renderRecordedAlert } from '../recorded-alert.ts'
import * as store from '../store.ts'
import type { EvidenceChain, EvidenceOnChain } from './chain.ts'
import type { AlertEvidence } from './model.ts'

type Deps = ReadDeps & { readonly evidence: EvidenceChain; readonly chainId: number }

/**
 * Reads the evidence of a wallet's alert. Evidence is not stored: the claim follows from the alert, and
 * blocks and transactions are read from the chain.
 *
 * @throws AppError not_found when the wallet has no such alert; upstream when the chain does not answer
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

/** The evidence of an alert with its words, for a person. */
export interface LinkedEvidence extends Reader {
  readonly evidence: AlertEvidence
  /** Number of the alert's incident, as messages and pages show it. */
  readonly incidentId: number
  readonly message: EnvelopeMessage
}

/**
 * Reads the evidence of the alert behind a signed link; undefined for a forged link or a deleted alert.
 *
 * @throws AppError upstream when the chain does not answer
 */
export async function readLinkedEvidence(
  deps: Deps,
  code: string,
  locale?: Locale,
): Promise<LinkedEvidence | undefined> {
  const linked = await findLinkedAlert(deps, code)
  if (linked === undefined) return undefined
  const { row, recipient } = linked
  const reader = {
    locale: locale ?? recipient?.locale ?? 'en',
    timezone: recipient?.timezone ?? 'UTC',
  }
  return {
    ...reader,
    evidence: await evidenceOf(deps, row, reader.locale),
    incidentId: row.incidentId,
    message: renderRecordedAlert(deps, row, reader),
  }
}

async function evidenceOf(deps: Deps, row: store.AlertRow, locale: Locale): Promise<AlertEvidence> {
  const data = JsonObject.parse(row.data)
  const derivedClaim = claimOf(row, data)
  const claim = typeof derivedClaim === 'string' ? null : derivedClaim
  const { checked } = signalHelp(translator(locale), row)
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
    unproven: typeof derivedClaim === 'string' ? derivedClaim : null,
    ...(claim === null
      ? NOTHING_READ
      : await deps.evidence.read({ id: row.id, position: row.position, claim, data })),
  }
}

const NOTHING_READ: EvidenceOnChain = {
  blocks: null,
  sources: { contracts: [], accounts: [], functions: [], events: [] },
  transactions: [],
}

/** The claim of an alert, or the reason why the alert has no claim. */
function claimOf(
  { event, position }: store.AlertRow,
  data: JsonObject,
): EvidenceClaim | UnprovenReason {
  const source = findEventSource(event)
  const derive = source?.signal.claim
  if (derive === undefined) return 'other'
  if (source?.isRecovery) return 'recovery'
  return derive(data, { event, block: position })
}
