/** A provider's page: all stored and current data about the provider, in the reader's language. */
import { formatAmounts } from '#src/i18n/amounts.ts'
import {
  formatDateTime,
  formatDuration,
  formatNumber,
  formatPercent,
  shortAddress,
} from '#src/i18n/format.ts'
import { checkedKey, id, type Translate, typed } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '#src/kernel/durations.ts'
import type { App } from '#src/operations/define.ts'
import { epochText } from '#src/pictures/look-up-text.ts'
import { PICTURE_ROUNDS } from '#src/pictures/provider-picture.ts'
import { daysText, roundsText } from '#src/pictures/rounds-text.ts'
import { hoursToRegistration } from '#src/pictures/words.ts'
import type { UsualAlerts } from '#src/watches/backtest/usual.ts'
import type { AddressAnswer } from '#src/watches/look-up.ts'
import {
  countRounds,
  roundsWithin,
  toneOfDays,
  toneOfRounds,
} from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { LOW_LIMITS_WEI } from '#src/watches/types/provider-fsp/balances.ts'
import { watchesOf } from '../home/look-up-view.ts'
import type { LinkPreview } from '../layout.ts'
import { PROVIDER_FEEDS } from './feed-paths.ts'
import { roundsGrid } from './rounds-view.ts'

/** Data about a provider. */
export type FoundProvider = Extract<AddressAnswer, { kind: 'provider' }>

interface Field {
  readonly label: string
  readonly value: string
  /** Whether the value is a text in the reader's language. */
  readonly isSentence?: true
  /** Address or other text that is copied and never translated. */
  readonly code?: string
}

/** Size of the picture of a shared link, in pixels. */
const SHARED = { width: 1280, height: 672 } as const
const [FEW, MANY] = PICTURE_ROUNDS

/** The chain's own coin. */
function coin() {
  return { decimals: 18, symbol: servedChain().symbol } as const
}

export function providerView(app: App, t: Translate, found: FoundProvider, timezone: string) {
  const { view, name } = found
  const title = name ?? shortAddress(view.provider)
  const url = `${app.publicUrl}/providers/${view.provider}`
  const rounds = roundsText(t, view, FEW)
  const epoch = epochText(t, view)
  const [main, ...others] = watchesOf(app, t, view.provider, 'provider')
  const grid = { timezone, label: title }
  return {
    title,
    share: shareOf(t, { title, url, description: [daysText(t, view) ?? rounds, epoch] }),
    address: view.provider,
    chips: chipsOf(t, view),
    staleNote: view.stale && view.rounds.length > 0 ? t('pages:provider.stale') : undefined,
    main: main && { ...main, label: t('bot:button.watchProvider') },
    others,
    rounds: roundsGrid(t, view, grid),
    longer: view.rounds.length > FEW ? roundsGrid(t, view, { ...grid, count: MANY }) : undefined,
    longerTitle: t('pages:provider.longer', { rounds: formatNumber(MANY, t.locale) }),
    lines: [epoch, nextText(t, view), fastUpdatesText(t, view), notListedText(t, view)].filter(
      (line) => line !== undefined,
    ),
    sections: [
      { title: t('pages:provider.conditions'), fields: conditionsOf(t, found) },
      { title: t('pages:provider.rewards'), fields: rewardsOf(t, found) },
      { title: t('pages:provider.addresses'), fields: addressesOf(t, view) },
    ].filter(({ fields }) => fields.length > 0),
    reports: found.reports.map((epoch) => ({
      label: t('pages:report.open', { epoch: id(epoch) }),
      href: `/providers/${view.provider}/epochs/${epoch}`,
    })),
    embed: embedOf(t, { title, url }),
    ...feedsOf(t, { title, url }),
    script: '/scripts/copies.js',
  }
}

function shareOf(
  t: Translate,
  about: {
    readonly title: string
    readonly url: string
    readonly description: readonly (string | undefined)[]
  },
): LinkPreview {
  const { title, url, description } = about
  return {
    description: description.filter((part) => part !== undefined).join(' · '),
    url,
    image: `${url}/share.png${t.locale === 'en' ? '' : `?lang=${t.locale}`}`,
    ...SHARED,
    alt: t('messages:picture.caption', { watch: typed(title) }),
  }
}

function chipsOf(t: Translate, view: ProviderView) {
  const spans = view.rounds.length > FEW ? [FEW, MANY] : [FEW]
  const days = daysText(t, view)
  const lead = days === undefined ? [] : [{ text: days, tone: toneOfDays(view.last30Days) }]
  const chips = spans.map((count) => {
    const text = roundsText(t, view, count)
    return { text, tone: toneOfRounds(countRounds(roundsWithin(view.rounds, count)), count) }
  })
  return [...lead, ...chips]
}

/** What the usual watch would have sent. */
export function usualText(t: Translate, { alerts: count, days }: UsualAlerts): string {
  const period = formatDuration(days * DAY_SECONDS, t.locale, 'long')
  return t('pages:provider.usual', { count, period })
}

/** Registration for the next reward epoch. */
function nextText(t: Translate, view: ProviderView): string | undefined {
  const { rewardEpoch, registeredNext } = view
  if (rewardEpoch === null) return undefined
  const epoch = id(rewardEpoch + 1)
  if (registeredNext !== null) {
    return t(`bot:provider.next.${registeredNext ? 'registered' : 'open'}`, { epoch })
  }
  const hours = hoursToRegistration(view)
  if (hours === undefined) return undefined
  const duration = formatDuration(hours * HOUR_SECONDS, t.locale, 'long')
  return t('bot:provider.next.soon', { epoch, duration })
}

function fastUpdatesText(t: Translate, { fastUpdates }: ProviderView): string | undefined {
  return fastUpdates === null
    ? undefined
    : t('bot:provider.fast', { count: fastUpdates.blocksSinceUpdate })
}

function notListedText(t: Translate, { validators }: ProviderView): string | undefined {
  const unlisted = (validators ?? []).filter(({ listed }) => !listed)
  const [first] = unlisted
  if (first === undefined) return undefined
  return t('bot:provider.notListed', { count: unlisted.length, node: id(first.nodeId) })
}

/** Eligibility by the last published eligibility data, and the current rates of the minimal conditions. */
function conditionsOf(t: Translate, { view, eligibility }: FoundProvider): readonly Field[] {
  const rates = (['anchor', 'fdc', 'fastUpdates', 'uptime'] as const).flatMap((name): Field[] => {
    const condition = view.minimalConditions[name]
    if (condition === null) return []
    const [rate, minimum, used] = [condition.rate, condition.minimum, condition.used].map((share) =>
      formatPercent(Math.floor(share * 100) / 100, t.locale),
    )
    const values = { rate: rate ?? '', minimum: minimum ?? '', used: used ?? '' }
    const ends = condition.budgetEndsAt && formatDateTime(condition.budgetEndsAt, t.locale, 'UTC')
    const sentences = [
      t('pages:provider.ofMinimum', values),
      ...(ends === null ? [] : [t('pages:provider.budgetEnds', { date: ends })]),
    ]
    return [
      {
        label: t(`pages:provider.condition.${name}`),
        value: sentences.join(' '),
        isSentence: true,
      },
    ]
  })
  if (eligibility === null) return rates
  const { rewardEpochId, isEligible, passes, failures } = eligibility
  const epoch = id(rewardEpochId)
  const isFailed = failures.length > 0
  return [
    {
      label: t('pages:provider.eligibility', { epoch }),
      value: t(`pages:provider.eligibility.${isEligible ? 'yes' : 'no'}`),
    },
    ...(passes === null
      ? []
      : [{ label: t('pages:provider.passes'), value: formatNumber(passes, t.locale) }]),
    // Words of the eligibility data, which come from outside and are not translated.
    ...(isFailed
      ? [{ label: t('pages:provider.failures'), value: '', code: failures.join(', ') }]
      : []),
    ...rates,
  ]
}

function rewardsOf(t: Translate, { rewards }: FoundProvider): readonly Field[] {
  return rewards.map(({ rewardEpoch, amountWei, waitingWei }) => {
    const [amount = '', waiting = ''] = formatAmounts(
      [amountWei, waitingWei].map((units) => ({ units, ...coin() })),
      t.locale,
    )
    return {
      label: t('pages:provider.rewardEpoch', { epoch: id(rewardEpoch) }),
      ...(waitingWei === 0n
        ? { value: amount }
        : { value: t('pages:provider.waiting', { amount, waiting }), isSentence: true as const }),
    }
  })
}

/** The addresses of the provider's roles with their balances, which pay for its transactions. */
function addressesOf(t: Translate, { addresses, balances }: ProviderView): readonly Field[] {
  const roleAddresses = Object.entries(addresses ?? {}).map(([role, address]) => ({
    role,
    address,
  }))
  const roles = new Map(
    [...roleAddresses, ...balances].map((account) => [
      `${account.role} ${account.address}`,
      account,
    ]),
  )
  const balanceTexts = new Map(
    balances.map(({ address, balanceWei }) => {
      const shown = [balanceWei, ...LOW_LIMITS_WEI].map((units) => ({ units, ...coin() }))
      return [address, formatAmounts(shown, t.locale)[0]]
    }),
  )
  return [...roles.values()]
    .filter(({ role }) => ROLES.has(role))
    .map(({ role, address }) => {
      return {
        label: t(checkedKey(`pages:provider.role.${role}`)),
        value: balanceTexts.get(address) ?? '',
        code: address,
      }
    })
}

const ROLES: ReadonlySet<string> = new Set([
  'submit',
  'submitSignatures',
  'signingPolicy',
  'fastUpdates',
])

/** Addresses of the provider's feeds and calendar, in the reader's language. */
function feedsOf(t: Translate, { title, url }: { readonly title: string; readonly url: string }) {
  const query = t.locale === 'en' ? '' : `?lang=${t.locale}`
  const hrefOf = (feed: keyof typeof PROVIDER_FEEDS) =>
    `${url}/${PROVIDER_FEEDS[feed].file}${query}`
  const calendar = hrefOf('calendar')
  const titles = {
    atom: t('pages:feed.title', { provider: typed(title) }),
    json: t('pages:feed.title', { provider: typed(title) }),
    calendar: t('pages:calendar.title', { provider: typed(title) }),
  }
  return {
    feeds: [
      { label: t('pages:provider.feeds.atom'), href: hrefOf('atom') },
      { label: t('pages:provider.feeds.json'), href: hrefOf('json') },
      // Calendar programs take this scheme as a request to subscribe.
      { label: t('pages:provider.feeds.subscribe'), href: calendar.replace(/^https?:/, 'webcal:') },
      { label: t('pages:provider.feeds.calendar'), href: calendar },
    ],
    alternates: (['atom', 'json', 'calendar'] as const).map((feed) => ({
      ...{ type: PROVIDER_FEEDS[feed].type, href: hrefOf(feed), title: titles[feed] },
    })),
  }
}

/** Lines to copy into a README or a site. */
function embedOf(t: Translate, { title, url }: { readonly title: string; readonly url: string }) {
  const lang = t.locale === 'en' ? '' : `lang=${t.locale}&`
  const alt = title.replaceAll(/[[\]()<>"\\]/g, '')
  return [
    `[![${alt}](${url}/badge.svg)](${url})`,
    `<a href="${url}"><img src="${url}/rounds.svg?${lang}theme=light" width="640" alt="${alt}"></a>`,
  ]
}
