import { z } from 'zod'
import type { DisplayValues } from '#src/kernel/display-values.ts'
import { Address, Hash, Instant, type JsonObject } from '#src/kernel/units.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'
import { roundSignal } from './round-streak.ts'

/** Alerts on a reveal that does not match its commit. */
const revealOffence = roundSignal({
  id: 'reveal-offence',
  group: 'offences',
  checks: ['revealOffence'],
  isStreak: false,
  severity: 'critical',
  role: 'submit',
  facts: (data): DisplayValues => {
    const { commit, computed, submit1Tx, submit2Tx } = z
      .looseObject({
        commit: Hash,
        computed: Hash,
        submit1Tx: Hash.nullable(),
        submit2Tx: Hash.nullable(),
      })
      .parse(data)
    return {
      commit: { kind: 'identifier', value: commit },
      computed: { kind: 'identifier', value: computed },
      ...(submit1Tx && { submit1: { kind: 'transaction', hash: submit1Tx } }),
      ...(submit2Tx && { submit2: { kind: 'transaction', hash: submit2Tx } }),
    }
  },
  example: {
    commit: '0x05a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54',
    computed: '0x6ae081fd19f4890fa29ece8c3ee9585cca38f9869acd7db2b64a0bed2ec5cb50',
    submit1Tx: PROVIDER_EXAMPLE.tx,
    submit2Tx: '0x1c9e0f3b7a52d8e6f4a1b0c3d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607',
  },
})

const PROTOCOL_NAMES = { ftso: 'FTSO', fdc: 'FDC' } as const
const Protocol = z.enum(['ftso', 'fdc'])

/** Alerts on a signature by another key than the provider's. */
const signatureMismatch = roundSignal({
  id: 'signature-mismatch',
  group: 'offences',
  checks: ['mismatch', 'fdcMismatch'],
  isStreak: false,
  severity: 'critical',
  role: 'signingPolicy',
  facts: (data): DisplayValues => {
    const { protocol, recoveredSigner, expectedSigner } = z
      .looseObject({
        protocol: Protocol,
        recoveredSigner: Address.nullable(),
        expectedSigner: Address,
      })
      .parse(data)
    return {
      protocol: { kind: 'name', text: PROTOCOL_NAMES[protocol] },
      ...(recoveredSigner && { found: { kind: 'address', address: recoveredSigner } }),
      expected: { kind: 'address', address: expectedSigner },
    }
  },
  example: {
    protocol: 'ftso',
    reason: 'wrong-key',
    recoveredSigner: '0x9f9069889fDE26EAA7eb4Dba7124c4392F4A1E94',
    expectedSigner: '0x84824513537A6d24cfcEDdc1Ab8f4079a6Bd4CFb',
    digestTried: ['legacy', 'chain-bound'],
    merkleRoot: '0xa711d4ac935765adb0a0283d15a4e7dd6c8771554b524c454c1ff6ad28c37b2c',
    tx: PROVIDER_EXAMPLE.tx,
    doubleSigned: false,
  },
  ownParties: (expectedSigner) => ({ expectedSigner, recoveredSigner: null }),
})

/** Alerts on a signature that was too late to be rewarded. */
const signatureGrace = roundSignal({
  id: 'signature-grace',
  group: 'offences',
  checks: ['grace', 'fdcGrace'],
  isStreak: false,
  severity: 'warning',
  role: 'submitSignatures',
  facts: (data: JsonObject): DisplayValues => {
    const { protocol, secondsLate, deadlineAt } = z
      .looseObject({ protocol: Protocol, secondsLate: z.int(), deadlineAt: Instant })
      .parse(data)
    return {
      protocol: { kind: 'name', text: PROTOCOL_NAMES[protocol] },
      late: { kind: 'duration', seconds: secondsLate },
      deadline: { kind: 'instant', at: deadlineAt },
    }
  },
  example: {
    protocol: 'ftso',
    signatureAt: '2026-11-20T12:02:35.000Z',
    deadlineAt: '2026-11-20T12:02:30.000Z',
    secondsLate: 5,
    tx: PROVIDER_EXAMPLE.tx,
  },
})

/** Alerts on a bit vote that contains all requests of the consensus and is not followed by a signature. */
const fdcRevealOffence = roundSignal({
  id: 'fdc-reveal-offence',
  group: 'offences',
  defaultEnabled: false,
  checks: ['fdcOffence'],
  isStreak: false,
  severity: 'critical',
  role: 'submitSignatures',
  example: { tx: PROVIDER_EXAMPLE.tx },
})

export const OFFENCE_SIGNALS = [
  revealOffence,
  signatureMismatch,
  signatureGrace,
  fdcRevealOffence,
] as const
