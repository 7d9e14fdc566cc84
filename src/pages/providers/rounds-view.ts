import { formatTime } from '#src/i18n/format.ts'
import { type Translate, typed } from '#src/i18n/translate.ts'
import { drawProvider, PICTURE_ROUNDS, type PictureRounds } from '#src/pictures/provider-picture.ts'
import {
  DUTIES,
  type DutyResult,
  dutyResultOf,
  roundsWithin,
} from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'

/**
 * The provider's last rounds: as a picture, and as a table for screen readers. Oldest first.
 *
 * @param options `count`: number of rounds; 20 by default. `isPast`: whether they are rounds of an earlier time, such as
 * of a past alert
 */
export function roundsGrid(
  t: Translate,
  provider: ProviderView,
  options: {
    readonly timezone: string
    readonly label: string | null
    readonly count?: PictureRounds
    readonly isPast?: boolean
  },
) {
  const { timezone, label, count = PICTURE_ROUNDS[0], isPast = false } = options
  const rounds = roundsWithin(provider.rounds, count).toReversed()
  if (rounds.length === 0) return undefined
  return {
    title: isPast
      ? t('pages:alert.rounds.past')
      : label === null
        ? t('pages:alert.rounds')
        : t('messages:picture.caption', { watch: typed(label) }),
    picture: drawProvider(provider, { rounds: count, palette: 'page', locale: t.locale }),
    asOf:
      provider.asOf === null || isPast
        ? undefined
        : t('pages:alert.rounds.asOf', {
            time: formatTime(provider.asOf, t.locale, timezone, { seconds: true, offset: true }),
          }),
    ids: rounds.map(({ id: round }) => String(round)),
    rows: DUTIES.map((duty) => ({
      label: t(`pages:alert.duty.${duty}`),
      words: rounds.map((round) => {
        const cell: DutyResult = dutyResultOf(round, duty)
        return t(`pages:alert.cell.${cell}`)
      }),
    })),
  }
}
