import { EXAMPLE, roundSignal } from './round-streak.ts'

/** A commit in every voting round. */
const ftsoCommit = roundSignal({
  id: 'ftso-commit',
  group: 'ftso',
  checks: ['commit'],
  isStreak: true,
  severity: 'warning',
  role: 'submit',
  example: { reason: 'missing', tx: null },
})

/** A reveal in the first half of the next round. Missing after a commit it is penalised. */
const ftsoReveal = roundSignal({
  id: 'ftso-reveal',
  group: 'ftso',
  checks: ['reveal'],
  isStreak: true,
  severity: 'warning',
  isCritical: ({ values }) => values?.['commitPresent'] === true,
  role: 'submit',
  words: ({ penalised }) => {
    const kind = penalised === true ? 'penalised' : 'unpenalised'
    return { loss: { kind: 'term', key: `messages:fsp.ftso-reveal.loss.${kind}` } }
  },
  example: { reason: 'late', tx: EXAMPLE.tx, commitPresent: true, penalised: true },
})

/** A signature of the result in the second half of the next round. */
const ftsoSignature = roundSignal({
  id: 'ftso-signature',
  group: 'ftso',
  checks: ['signature'],
  isStreak: true,
  severity: 'warning',
  role: 'submitSignatures',
  example: { reason: 'missing', tx: null, finalised: true },
})

export const FTSO_SIGNALS = [ftsoCommit, ftsoReveal, ftsoSignature] as const
