import { z } from 'zod'
import type { JsonObject } from '#src/kernel/units.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'
import { roundSignal } from './round-streak.ts'

/** Counts of a reveal whose values do not fit the feeds. */
const FeedCounts = z.looseObject({ valuesSent: z.int(), feedCount: z.int() })

function feedCountsOf(data: unknown) {
  return FeedCounts.safeParse(data).data
}

/** Alerts when the provider does not commit in a voting round. */
const ftsoCommit = roundSignal({
  id: 'ftso-commit',
  group: 'ftso',
  checks: ['commit'],
  isStreak: true,
  severity: 'warning',
  role: 'submit',
  example: { reason: 'missing', tx: null },
})

/**
 * Alerts when the provider does not reveal a value for each feed in the first half of the next round. A missing reveal
 * after a commit is penalized.
 */
const ftsoReveal = roundSignal({
  id: 'ftso-reveal',
  group: 'ftso',
  checks: ['reveal', 'feedValues'],
  isStreak: true,
  severity: 'warning',
  isCritical: ({ values }) => values?.['commitPresent'] === true,
  isMild: ({ values }) => feedCountsOf(values) !== undefined,
  form: (data) => (feedCountsOf(data) === undefined ? undefined : 'feeds'),
  facts: (data: JsonObject) => {
    const counts = feedCountsOf(data)
    return counts === undefined
      ? {}
      : {
          valuesSent: { kind: 'number', value: counts.valuesSent },
          feedCount: { kind: 'number', value: counts.feedCount },
        }
  },
  role: 'submit',
  words: ({ penalised }) => {
    const kind = penalised === true ? 'penalised' : 'unpenalised'
    return { loss: { kind: 'term', key: `messages:fsp.ftso-reveal.loss.${kind}` } }
  },
  example: { reason: 'late', tx: PROVIDER_EXAMPLE.tx, commitPresent: true, penalised: true },
})

/** Alerts when the provider does not sign the result in the second half of the next round. */
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
