import { formatPercent, shortAddress } from '#src/i18n/format.ts'
import { checkedKey, typed } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { clockTime } from '../../views/time.ts'
import { deepLink, type Reader } from '../../views/view.ts'
import { factsOf, factValues } from '../../views/watch-facts.ts'
import { textGrid, wrongIn } from '../provider/view.ts'

/** A result that a person can post into another chat: public data only. */
export interface InlineResult {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly html: string
  readonly button: Button | undefined
}

/** Number of rounds in a grid. */
export const INLINE_ROUNDS = 10

const DUTIES = ['commit', 'reveal', 'signature'] as const

/**
 * Status of a provider, with the failures of its last round in the title. Written for a group, whose
 * members have different time zones.
 */
export function providerResult(
  reader: Reader,
  shown: { readonly view: ProviderView; readonly name: string | undefined },
  now: Date,
): InlineResult {
  const { t } = reader
  const { view } = shown
  const name = shown.name ?? shortAddress(view.provider)
  const [wrong] = wrongIn(t, view)
  const yes = (value: boolean | null) =>
    t(value === null ? 'bot:term.unknown' : value ? 'bot:term.yes' : 'bot:term.no')
  const values = {
    epoch: view.rewardEpoch === null ? t('bot:term.unknown') : String(view.rewardEpoch),
    registered: yes(view.registered),
    policy: yes(view.inPolicy),
    weight: view.weight === null ? t('bot:term.unknown') : formatPercent(view.weight, t.locale),
  }
  const html = [
    t.html('bot:inline.title', { name: typed(name), time: clockTime(reader, view.asOf ?? now) }),
    ...(view.rounds.length === 0 ? [] : [grid(reader, view)]),
    t.html('bot:inline.provider', values),
  ].join('\n')
  return {
    id: view.provider,
    title: wrong === undefined ? name : `${name} · ${wrong.duty} ${wrong.state}`,
    description: t('bot:inline.about', values),
    html,
    button: {
      label: t('bot:button.openBot'),
      url: deepLink(reader, `p${view.provider.slice(2).toLowerCase()}`),
    },
  }
}

/** The last rounds, with the names of duties. */
function grid({ t }: Reader, { rounds }: ProviderView): string {
  const named = DUTIES.map((duty) => [duty, t(checkedKey(`bot:inline.duty.${duty}`))] as const)
  return textGrid(rounds.slice(0, INLINE_ROUNDS), named)
}

/**
 * Price of a feed.
 * @param observation the observation that a watch on the feed would have; null if unknown
 */
export function feedResult(
  reader: Reader,
  feed: string,
  observation: unknown,
  now: Date,
): InlineResult | undefined {
  const { t } = reader
  const watch = { type: 'feed-move', target: { feed }, lastObservation: observation }
  const facts = factsOf(watch)
  if (facts.price === undefined || facts.time?.kind !== 'instant') return undefined
  const { price = '' } = factValues(reader, { price: facts.price }, now)
  const time = clockTime(reader, facts.time.at)
  return {
    id: feed,
    title: feed,
    description: typeof price === 'string' ? price : feed,
    html: t.html('bot:inline.feed', { feed: typed(feed), price, time }),
    button: undefined,
  }
}
