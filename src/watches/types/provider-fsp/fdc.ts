import { z } from 'zod'
import type { DisplayValues } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'
import { roundSignal } from './round-streak.ts'

/** Alerts when the provider sends no bit vote in a voting round with attestation requests. */
const fdcBitvote = roundSignal({
  id: 'fdc-bitvote',
  group: 'fdc',
  checks: ['bitVote'],
  isStreak: true,
  severity: 'warning',
  role: 'submit',
  facts: (data) => {
    const { requests } = z.looseObject({ requests: z.int() }).parse(data)
    return { requests: { kind: 'number', value: requests } }
  },
  example: { reason: 'missing', tx: null, requests: 5 },
})

/** Alerts when the provider does not sign the result of a voting round with attestation requests. */
const fdcSignature = roundSignal({
  id: 'fdc-signature',
  group: 'fdc',
  checks: ['fdcSignature'],
  isStreak: true,
  severity: 'warning',
  role: 'submitSignatures',
  example: {
    reason: 'missing',
    tx: null,
    finalised: true,
    bitvotePresent: true,
    dominated: false,
    penalised: false,
  },
})

/** Alerts on FDC data in `submit1`, which the protocol ignores. */
const fdcSubmit1 = roundSignal({
  id: 'fdc-submit1',
  group: 'fdc',
  checks: ['strayCommit'],
  isStreak: false,
  isFree: true,
  severity: 'warning',
  role: 'submit',
  example: { tx: PROVIDER_EXAMPLE.tx, payloadLength: 3 },
})

/** Alerts on bit votes for another number of requests than the round had. */
const fdcBitvoteLength = roundSignal({
  id: 'fdc-bitvote-length',
  group: 'fdc',
  defaultEnabled: false,
  checks: ['bitVoteLength'],
  isStreak: true,
  severity: 'warning',
  role: 'submit',
  facts: lengths,
  example: { sentLength: 4, expectedLength: 5, tx: PROVIDER_EXAMPLE.tx },
})

function lengths(data: JsonObject): DisplayValues {
  const { sentLength, expectedLength } = z
    .looseObject({ sentLength: z.int().nullable(), expectedLength: z.int() })
    .parse(data)
  return {
    sent: { kind: 'number', value: sentLength ?? 0 },
    requests: { kind: 'number', value: expectedLength },
  }
}

/** Alerts on bit votes that lack requests of the consensus. */
const fdcConsensus = roundSignal({
  id: 'fdc-consensus',
  group: 'fdc',
  defaultEnabled: false,
  checks: ['consensus'],
  isStreak: true,
  severity: 'warning',
  role: 'submit',
  facts: lacking,
  example: {
    missing: [
      { index: 3, attestationType: 'Payment', source: 'XRP' },
      { index: 8, attestationType: 'EVMTransaction', source: 'ETH' },
    ],
    confirmed: 3,
    consensusCount: 5,
  },
})

function lacking(data: JsonObject): DisplayValues {
  const { missing } = z
    .looseObject({
      missing: z.array(z.looseObject({ attestationType: z.string(), source: z.string() })),
    })
    .parse(data)
  const kinds = missing.map(({ attestationType, source }) => `${attestationType} ${source}`.trim())
  return {
    lacking: { kind: 'number', value: missing.length },
    missing: { kind: 'name', text: [...new Set(kinds)].join(', ') },
  }
}

export const FDC_SIGNALS = [
  fdcBitvote,
  fdcSignature,
  fdcSubmit1,
  fdcBitvoteLength,
  fdcConsensus,
] as const
