import { EXAMPLE_PROVIDER } from '#src/alerts/example.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { formatAmounts } from '#src/i18n/amounts.ts'
import { formatPercent, shortAddress } from '#src/i18n/format.ts'
import { builtKey, id, type Translate, typed } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Address } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { roundsGlyph, roundsText } from '#src/pictures/rounds-text.ts'
import { watchStart } from '#src/telegram/links.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { countRounds, roundsWithin, toneOfRounds } from '#src/watches/round-counts.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { botUrl } from './bot-url.ts'
import { exampleProvider } from './example-provider.ts'
import { roundsGrid } from './rounds-view.ts'

/** Answer of the search box. At most one of its fields is set. */
export interface AnswerView {
  /** A sentence about a text that has no answer. */
  readonly sentence?: string
  /** Providers to choose from. */
  readonly choices?: readonly { readonly label: string; readonly href: string }[]
  readonly card?: Card
}

interface Card {
  readonly title: string
  readonly address: Address | undefined
  /** Page of the provider. */
  readonly href?: string
  readonly chip: { readonly tone: string; readonly text: string } | undefined
  readonly lines: readonly string[]
  readonly fields: readonly Field[]
  readonly rounds: ReturnType<typeof roundsGrid>
  readonly main: Action | undefined
  readonly others: readonly Action[]
}

interface Field {
  readonly label: string
  readonly value: string
  /** The value in US dollars. */
  readonly usd?: string
}

interface Action {
  readonly label: string
  readonly href: string
}

/** The data of the request that the view needs. */
interface Place {
  readonly timezone: string
  /** Address of the page on which the search box answers this text, in the reader's language. */
  hrefOf(text: string): string
}

/** Numbers of rounds whose problems are counted. */
const COUNTED = [20, 100] as const

/** The answer to a typed text. */
export function answerView(
  app: App,
  t: Translate,
  { input, answer }: { readonly input: string; readonly answer: LookUpAnswer },
  place: Place,
): AnswerView {
  switch (answer.kind) {
    case 'nothing':
      return {
        sentence:
          answer.why === 'no_address'
            ? t('pages:home.answer.nothing', { input: typed(input) })
            : t(`pages:home.answer.${answer.why}`),
      }
    case 'several':
      return {
        sentence: t('bot:provider.several', { input: typed(input) }),
        choices: answer.providers.map(({ provider, name }) => ({
          label: name,
          href: place.hrefOf(provider),
        })),
      }
    case 'provider':
      return { card: providerCard(app, t, answer, place) }
    case 'account':
      return { card: accountCard(app, t, answer) }
    case 'unavailable':
      return {
        card: {
          ...emptyCard(answer.address),
          lines: [t('pages:home.answer.unavailable')],
          main: { label: t('pages:home.answer.retry'), href: place.hrefOf(answer.address) },
          others: watchesOf(app, t, answer.address, 'address'),
        },
      }
    default:
      return answer satisfies never
  }
}

/** Card of the fictional provider in an example alert. */
export function exampleCard(t: Translate, example: Envelope, timezone: string): Card {
  const view = exampleProvider(example)
  return {
    ...providerFacts(t, view, { name: EXAMPLE_PROVIDER, timezone }),
    address: undefined,
    main: undefined,
    others: [],
  }
}

function emptyCard(address: Address) {
  const none = { chip: undefined, lines: [], fields: [], rounds: undefined, others: [] }
  return { title: shortAddress(address), address, main: undefined, ...none }
}

function providerCard(
  app: App,
  t: Translate,
  { view, name }: Extract<LookUpAnswer, { kind: 'provider' }>,
  { timezone }: Place,
): Card {
  const [main, ...others] = watchesOf(app, t, view.provider, 'provider')
  return {
    ...providerFacts(t, view, { name, timezone }),
    address: view.provider,
    href: `/providers/${view.provider}`,
    main: main && { ...main, label: t('bot:button.watchProvider') },
    others,
  }
}

function providerFacts(
  t: Translate,
  view: ProviderView,
  { name, timezone }: { readonly name: string | undefined; readonly timezone: string },
) {
  const [few, many] = COUNTED
  const tone = toneOfRounds(countRounds(roundsWithin(view.rounds, few)), few)
  const title = name ?? shortAddress(view.provider)
  const lines = [
    view.rounds.length > few ? roundsText(t, view, many) : undefined,
    epochText(t, view),
    view.stale ? t('pages:home.answer.stored') : undefined,
  ]
  return {
    title,
    chip: { tone, text: `${roundsGlyph(view, few)} ${roundsText(t, view, few)}` },
    lines: lines.filter((line) => line !== undefined),
    fields: [],
    rounds: roundsGrid(t, view, { timezone, label: title }),
  }
}

export function epochText(t: Translate, view: ProviderView): string | undefined {
  const { rewardEpoch, registered, inPolicy, weight } = view
  if (rewardEpoch === null || registered === null || inPolicy === null) return undefined
  const epoch = id(rewardEpoch)
  if (inPolicy && weight !== null) {
    const share = formatPercent(weight, t.locale)
    return t('bot:provider.epoch.member', { epoch, weight: share })
  }
  return t(`bot:provider.epoch.${registered ? 'registered' : 'absent'}`, { epoch })
}

function accountCard(
  app: App,
  t: Translate,
  { address, isContract, ...known }: Extract<LookUpAnswer, { kind: 'account' }>,
): Card {
  const [main, ...others] = watchesOf(app, t, address, 'address')
  return {
    ...emptyCard(address),
    fields: [
      { label: t('pages:home.answer.balance'), ...balanceTexts(t, known) },
      {
        label: t('pages:home.answer.kind'),
        value: t(`pages:home.answer.${isContract ? 'contract' : 'wallet'}`),
      },
      { label: t('pages:home.answer.provider'), value: t('pages:home.answer.none') },
    ],
    main: main && { ...main, label: t('pages:home.answer.watch') },
    others,
  }
}

/** The balance, with its dollars unless they would read as none. */
function balanceTexts(
  t: Translate,
  {
    balanceWei,
    usdCents,
  }: Pick<Extract<LookUpAnswer, { kind: 'account' }>, 'balanceWei' | 'usdCents'>,
): Omit<Field, 'label'> {
  if (balanceWei === null) return { value: t('pages:home.answer.unread') }
  const textOf = (units: bigint, decimals: number, symbol: string) =>
    formatAmounts([{ units, decimals, symbol }], t.locale).join()
  const value = textOf(balanceWei, 18, servedChain().symbol)
  if (usdCents === null || usdCents === 0n) return { value }
  return { value, usd: textOf(usdCents, 2, 'USD') }
}

/**
 * Links to the watch types that can watch an address, `provider-fsp` first: to the bot's wizard, or to the
 * docs if there is no bot.
 */
export function watchesOf(
  app: App,
  t: Translate,
  address: Address,
  kind: 'provider' | 'address',
): readonly Action[] {
  return REGISTRY.filter(({ form }) => form?.target.some((field) => field.kind === kind))
    .toSorted((a, b) => Number(b.name === 'provider-fsp') - Number(a.name === 'provider-fsp'))
    .map(({ name }) => ({
      label: t(builtKey(`bot:button.type.${name}`)),
      href: botUrl(app, watchStart(name, address)) ?? `/docs/watches/${name}`,
    }))
}
