import { formatTime } from '#src/i18n/format.ts'
import { type Translate, typed } from '#src/i18n/translate.ts'
import { drawProvider, PICTURE_ROUNDS } from '#src/pictures/provider-picture.ts'
import { cellOf, DUTIES, type ProviderView, type RoundCell } from '#src/watches/provider-view.ts'

/** The provider's last rounds: as a picture, and as a table for screen readers. Oldest first. */
export function roundsGrid(
  t: Translate,
  provider: ProviderView,
  { timezone, label }: { readonly timezone: string; readonly label: string | null },
) {
  const rounds = provider.rounds.slice(0, PICTURE_ROUNDS[0]).toReversed()
  if (rounds.length === 0) return undefined
  return {
    title:
      label === null
        ? t('pages:alert.rounds')
        : t('messages:picture.caption', { watch: typed(label) }),
    picture: drawProvider(provider, { rounds: PICTURE_ROUNDS[0], palette: 'page' }),
    asOf:
      provider.asOf === null
        ? undefined
        : t('pages:alert.rounds.asOf', {
            time: formatTime(provider.asOf, t.locale, timezone, { seconds: true, offset: true }),
          }),
    ids: rounds.map(({ id: round }) => String(round)),
    rows: DUTIES.map((duty) => ({
      label: t(`pages:alert.duty.${duty}`),
      words: rounds.map((round) => {
        const cell: RoundCell = cellOf(round, duty)
        return t(`pages:alert.cell.${cell}`)
      }),
    })),
  }
}
