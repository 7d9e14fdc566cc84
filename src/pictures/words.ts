/** The words of a picture in the reader's language. Pure. */
import { formatDisplayValue, formatDuration, formatPercent, formatTime } from '#src/i18n/format.ts'
import { checkedKey, id, translator } from '#src/i18n/translate.ts'
import { HOUR_SECONDS } from '#src/kernel/durations.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import { outageFacts } from '#src/kernel/outage-figures.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { daysText } from './rounds-text.ts'

/** Names of the duties, which stand below the name of their protocol. */
export type DutyName = 'commit' | 'reveal' | 'sign' | 'bitvote'

/** Every text of a picture, except the name of the provider and of the protocols, which are not translated. */
export interface PictureWords {
  /** Whether the picture is laid out from right to left. Time runs from left to right in every language. */
  readonly isRightToLeft: boolean
  readonly duties: Readonly<Record<DutyName, string>>
  /** Reward epoch, or after the round the other providers, if the provider failed it; time. As far as known and shown. */
  readonly about: readonly string[]
  /** The share of good rounds over the last days, if it is known. */
  readonly days: readonly string[]
  readonly fastUpdates: { readonly label: string; readonly value: string }
  readonly weight: { readonly label: string; readonly value: string }
  /** The next reward epoch, or the time until registration for it opens. */
  readonly next: { readonly label: string; readonly value: string }
}

/** Text for a value that is unknown. */
const NONE = '–'

/** @param options `timezone`: zone of the time, which is left out without one */
export function pictureWords(
  view: ProviderView,
  { locale, timezone }: { readonly locale: Locale; readonly timezone?: string | undefined },
): PictureWords {
  const t = translator(locale)
  const { rewardEpoch, currentRound, rounds, asOf, fastUpdates, weight, others } = view
  const round = currentRound ?? rounds[0]?.id
  return {
    isRightToLeft: directionOf(locale) === 'rtl',
    duties: {
      commit: t('signals:provider-fsp.ftso-commit.short'),
      reveal: t('signals:provider-fsp.ftso-reveal.short'),
      sign: t('signals:provider-fsp.ftso-signature.short'),
      bitvote: t('signals:provider-fsp.fdc-bitvote.short'),
    },
    days: [daysText(t, view)].filter((part) => part !== undefined),
    about: [
      // The line has room for one of both in letters that a phone can show.
      rewardEpoch === null || others !== null
        ? undefined
        : t('pages:provider.rewardEpoch', { epoch: id(rewardEpoch) }),
      round === undefined ? undefined : `${t('pages:alert.rounds.round')} ${round}`,
      others === null ? undefined : othersText(others, locale),
      asOf === null || timezone === undefined
        ? undefined
        : formatTime(asOf, locale, timezone, { offset: true }),
    ].filter((part) => part !== undefined),
    fastUpdates: {
      label: t('signals:provider-fsp.fast-updates.short'),
      value:
        fastUpdates === null ? NONE : t('units:blocks', { count: fastUpdates.blocksSinceUpdate }),
    },
    weight: {
      label: t('pages:providers.weight'),
      value: weight === null ? NONE : formatPercent(weight, locale),
    },
    next: { label: t('messages:picture.next'), value: nextOf(view, locale) },
  }
}

/** How many of the other providers had the same problem in the newest round, or did not have it. */
function othersText(others: NonNullable<ProviderView['others']>, locale: Locale): string {
  const t = translator(locale)
  return Object.entries(outageFacts({ others }))
    .map(([name, fact]) => {
      const value = formatDisplayValue(fact, { locale, timeZone: 'UTC' })
      return t('messages:fieldLine', { label: t(checkedKey(`messages:field.${name}`)), value })
    })
    .join()
}

function nextOf(view: ProviderView, locale: Locale): string {
  const { rewardEpoch, registeredNext, registered } = view
  if (rewardEpoch === null) return NONE
  const isAwaited = registeredNext === null && registered === true
  const hours = isAwaited ? hoursToRegistration(view) : undefined
  if (hours === undefined) return String(rewardEpoch + 1)
  return formatDuration(hours * HOUR_SECONDS, locale, 'short')
}

/** Full hours until registration for the next reward epoch opens; undefined when unknown. */
export function hoursToRegistration({
  registrationOpensAt,
  asOf,
}: ProviderView): number | undefined {
  if (registrationOpensAt === null || asOf === null) return undefined
  const seconds = (registrationOpensAt.getTime() - asOf.getTime()) / 1000
  return seconds <= 0 ? undefined : Math.ceil(seconds / HOUR_SECONDS)
}
