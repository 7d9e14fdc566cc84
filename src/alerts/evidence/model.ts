/** The evidence of an alert: a document that anybody can check on the chain, without trusting this service. */
import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Address, Hash, Id, Instant } from '#src/kernel/units.ts'
import { EvidenceClaim, UNPROVEN_REASONS } from '#src/watches/evidence-model.ts'
import { AlertData } from '../model.ts'

/** Version of the document's format. A change that breaks readers raises it. */
const EVIDENCE_VERSION = 1

const BlockPlace = z.object({ number: z.int(), hash: Hash, at: Instant })

/** The part of a submission that is for one protocol. */
const EvidenceFrame = z.object({
  protocol: z.int(),
  round: z.int().meta({ description: 'operations:field.roundNumber' }),
  /** Length of the payload. */
  bytes: z.int(),
  payload: z.string(),
})

const EvidenceTransaction = z
  .object({
    hash: Hash,
    block: z.int(),
    blockHash: Hash,
    index: z.int(),
    sender: Address,
    receiver: Address.nullable(),
    input: z.string(),
    /** Submit function of the protocol; null for any other function. */
    function: z.string().nullable(),
    frames: z.array(EvidenceFrame),
  })
  .meta({ id: 'EvidenceTransaction' })

/** What was read for the judgement. */
const EvidenceSources = z
  .object({
    contracts: z.array(z.object({ name: z.string(), addresses: z.array(Address) })),
    /** The provider's accounts. */
    accounts: z.array(Address),
    functions: z.array(z.object({ name: z.string(), selector: z.string() })),
    events: z.array(z.object({ name: z.string(), topic: Hash })),
  })
  .meta({ id: 'EvidenceSources' })

/** Response of `GET /alerts/{id}/evidence`. */
export const AlertEvidence = z
  .object({
    version: z.literal(EVIDENCE_VERSION).meta({ description: 'operations:field.evidenceVersion' }),
    alertId: Id,
    chainId: z.int(),
    event: z.string(),
    severity: z.enum(SEVERITIES),
    firedAt: Instant,
    /** What the signal checks, in words. */
    rule: z.string().nullable(),
    /** What the alert says, as in webhooks. */
    data: AlertData,
    claim: EvidenceClaim.nullable().meta({ description: 'operations:field.evidenceClaim' }),
    /** Reason why there is no claim; null if there is one. */
    unproven: z
      .enum(UNPROVEN_REASONS)
      .nullable()
      .meta({ description: 'operations:field.evidenceUnproven' }),
    /**
     * The blocks read for the claim, both included. `first` is null where it equals `last`, or is unknown.
     */
    blocks: z
      .object({ first: BlockPlace.nullable(), last: BlockPlace })
      .nullable()
      .meta({ description: 'operations:field.evidenceBlocks' }),
    sources: EvidenceSources,
    /** Transactions that the claim names; the chain gives their content. */
    transactions: z.array(EvidenceTransaction),
  })
  .meta({ id: 'AlertEvidence' })
export type AlertEvidence = z.output<typeof AlertEvidence>
export type EvidenceTransaction = z.output<typeof EvidenceTransaction>
export type EvidenceSources = z.output<typeof EvidenceSources>
