/** The report of a reward epoch in words: the same in chats, mails and on pages. Pure. */
import { formatAmounts } from '#src/i18n/amounts.ts'
import { formatDuration, formatNumber, formatPercent } from '#src/i18n/format.ts'
import { checkedKey, id, type Translate } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { EpochReport } from '#src/watches/epoch-report.ts'
import type { Duty } from '#src/watches/provider-rounds.ts'

/** A line of a report. */
export interface ReportLine {
  readonly label: string
  readonly value: string
  /** Whether the value is a text in the reader's language. */
  readonly isSentence?: true
}

/** Signals whose names are those of the duties. */
const NAME_OF = {
  commit: 'ftso-commit',
  reveal: 'ftso-reveal',
  signature: 'ftso-signature',
  bitvote: 'fdc-bitvote',
  fdcSignature: 'fdc-signature',
} as const satisfies Record<Duty, string>

/** Seconds by which a provider must be later or earlier at the end of an epoch to count as drifting. */
const DRIFT_SECONDS = 5

/** The parts of a report. */
export interface ReportWords {
  readonly epoch: string
  /** Share of the good rounds; undefined without a known round. */
  readonly headline: string | undefined
  /** What the reader must know about the figures. */
  readonly notes: readonly string[]
  readonly result: readonly ReportLine[]
  readonly duties: readonly ReportLine[]
  readonly punctuality: readonly ReportLine[]
  readonly conditions: readonly ReportLine[]
  readonly rewards: readonly ReportLine[]
  readonly mend: readonly string[]
}

/** The words of a report in a reader's language. */
export function reportWords(t: Translate, report: EpochReport): ReportWords {
  const { rewardEpoch, rate, isOver, duties } = report
  const timed = duties.filter(({ margin }) => margin !== null)
  return {
    epoch: t('pages:provider.rewardEpoch', { epoch: id(rewardEpoch) }),
    headline: rate === null ? undefined : formatPercent(rate, t.locale),
    notes: [
      ...(isOver ? [] : [t('pages:report.running')]),
      ...(timed.length > 0 ? [] : [t('pages:report.noTimes')]),
    ],
    result: [
      { label: t('messages:picture.rounds'), value: keptText(t, report.rounds, report.badRounds) },
      ...rankLines(t, report),
    ],
    duties: duties.map(({ duty, rounds, missed }) => ({
      label: t(`signals:provider-fsp.${NAME_OF[duty]}.label`),
      value: rounds === 0 ? t('pages:report.noRounds') : keptText(t, rounds, missed),
    })),
    punctuality: timed.map(({ duty, margin }) => ({
      label: t(`signals:provider-fsp.${NAME_OF[duty]}.label`),
      value: marginText(t, margin),
      isSentence: true,
    })),
    conditions: conditionLines(t, report),
    rewards: [{ label: t('pages:report.rewards'), value: rewardsText(t, report) }],
    mend: report.mend.map((item) => mendText(t, item)),
  }
}

/** The lines of a message: no duty that was always kept, and of the times only those that drift. */
export function messageLines(t: Translate, report: EpochReport): readonly ReportLine[] {
  const words = reportWords(t, report)
  const missed = report.duties.map((duty) => duty.missed > 0)
  const drifting = report.duties
    .filter(({ margin }) => margin !== null)
    .map(({ margin }) => Math.abs(margin?.driftSeconds ?? 0) >= DRIFT_SECONDS)
  const mend = words.mend.length === 0 ? t('pages:report.nothing') : words.mend.join(' · ')
  return [
    ...words.result,
    ...words.duties.filter((_, index) => missed[index] === true),
    ...words.punctuality.filter((_, index) => drifting[index] === true),
    ...words.conditions,
    ...words.rewards,
    { label: t('pages:report.mend'), value: mend },
  ]
}

function keptText(t: Translate, known: number, bad: number): string {
  const [part, total] = [known - bad, known].map((count) => formatNumber(count, t.locale))
  return t('units:share', { part: part ?? '', total: total ?? '' })
}

function rankLines(t: Translate, { rank }: EpochReport): readonly ReportLine[] {
  if (rank === null) return []
  const [part, total] = [rank.place, rank.of].map((count) => formatNumber(count, t.locale))
  const value = t('units:share', { part: part ?? '', total: total ?? '' })
  return [{ label: t('pages:report.rank'), value }]
}

function marginText(t: Translate, margin: EpochReport['duties'][number]['margin']): string {
  if (margin === null) return t('pages:report.noTimes')
  const { medianSeconds, leastSeconds, driftSeconds } = margin
  const long = (seconds: number) => formatDuration(Math.abs(seconds), t.locale, 'long')
  const usual = long(medianSeconds)
  const sentences = [
    t(medianSeconds < 0 ? 'pages:report.usuallyLate' : 'pages:report.usually', { usual }),
    t(leastSeconds < 0 ? 'pages:report.lateAtMost' : 'pages:report.least', {
      least: long(leastSeconds),
    }),
  ]
  if (driftSeconds === null) return sentences.join(' ')
  const change = long(driftSeconds)
  const isSteady = Math.abs(driftSeconds) < DRIFT_SECONDS
  if (isSteady) return [...sentences, t('pages:report.steady')].join(' ')
  const drift = driftSeconds < 0 ? 'pages:report.later' : 'pages:report.earlier'
  return [...sentences, t(drift, { change })].join(' ')
}

function conditionLines(t: Translate, report: EpochReport): readonly ReportLine[] {
  const { minimalConditions, eligible, passes, failures } = report
  const rates = (['anchor', 'fdc', 'fastUpdates', 'uptime'] as const).flatMap(
    (name): ReportLine[] => {
      const condition = minimalConditions[name]
      if (condition === null) return []
      const [rate = '', minimum = '', used = ''] = [
        condition.rate,
        condition.minimum,
        condition.used,
      ].map((share) => formatPercent(Math.floor(share * 100) / 100, t.locale))
      const value = t('pages:provider.ofMinimum', { rate, minimum, used })
      return [{ label: t(`pages:provider.condition.${name}`), value, isSentence: true }]
    },
  )
  const isEligible =
    eligible === null
      ? 'pages:report.unknown'
      : (`pages:provider.eligibility.${eligible ? 'yes' : 'no'}` as const)
  return [
    { label: t('pages:report.eligibility'), value: t(isEligible) },
    ...(passes === null
      ? []
      : [{ label: t('pages:provider.passes'), value: formatNumber(passes, t.locale) }]),
    // Words of the eligibility data, which come from outside and are not translated.
    ...(failures.length === 0
      ? []
      : [{ label: t('pages:provider.failures'), value: failures.join(', ') }]),
    ...rates,
  ]
}

function rewardsText(t: Translate, { rewards: { state, amountWei } }: EpochReport): string {
  if (state === 'not-published') return t('pages:report.notPublished')
  if (state === 'not-read') return t('pages:report.notRead')
  if (amountWei === null) return t('pages:report.notNamed')
  const amount = { units: amountWei, decimals: 18, symbol: servedChain().symbol }
  return formatAmounts([amount], t.locale).join()
}

function mendText(t: Translate, { signal, rounds }: EpochReport['mend'][number]): string {
  const name = t(checkedKey(`signals:provider-fsp.${signal}.label`))
  if (rounds === null) return name
  return t('pages:report.item', {
    signal: name,
    rounds: t('units:votingRounds', { count: rounds }),
  })
}
