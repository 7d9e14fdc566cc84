import { EXAMPLE_PROVIDER } from '#src/alerts/messages/example.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { checkedKey, type Translate, typed } from '#src/i18n/translate.ts'
import { type AddressProblem, fieldProblemOf } from '#src/kernel/typed-address.ts'
import type { Address } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { fieldText } from '#src/operations/problem.ts'
import {
  accountFields,
  behindName,
  COUNTED_ROUNDS,
  holdingFields,
  type LookUpField,
  providersBehind,
  providerTexts,
} from '#src/pictures/look-up-text.ts'
import { watchStart } from '#src/telegram/links.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import { countRounds, roundsWithin, toneOfRounds } from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { botUrl } from '../bot-url.ts'
import { roundsGrid } from '../providers/rounds-view.ts'
import { exampleProvider } from './example-provider.ts'

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
  readonly fields: readonly LookUpField[]
  readonly rounds: ReturnType<typeof roundsGrid>
  readonly main: Action | undefined
  readonly others: readonly Action[]
  /** Providers behind an account, each with its page and the way to watch or follow it. */
  readonly behind: readonly (Action & { readonly watch: Action | undefined })[]
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

function nothingText(t: Translate, input: string, why: AddressProblem): string {
  if (why.reason === 'no_address') return t('pages:home.answer.nothing', { input: typed(input) })
  return fieldText(t, fieldProblemOf(why))
}

/** The answer to a typed text. */
export function answerView(
  app: App,
  t: Translate,
  { input, answer }: { readonly input: string; readonly answer: LookUpAnswer },
  place: Place,
): AnswerView {
  switch (answer.kind) {
    case 'nothing':
      return { sentence: nothingText(t, input, answer.why) }
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
      return { card: accountCard(app, t, answer, place) }
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
    behind: [],
  }
}

function emptyCard(address: Address) {
  const none = { chip: undefined, lines: [], fields: [], rounds: undefined, others: [], behind: [] }
  return { title: shortAddress(address), address, main: undefined, ...none }
}

function providerCard(
  app: App,
  t: Translate,
  { view, name }: Extract<LookUpAnswer, { kind: 'provider' }>,
  { timezone }: Place,
): Card {
  const [, ...others] = watchesOf(app, t, view.provider, 'provider')
  return {
    ...providerFacts(t, view, { name, timezone }),
    address: view.provider,
    href: `/providers/${view.provider}`,
    main: watchProvider(app, t, view.provider),
    others,
    behind: [],
  }
}

function providerFacts(
  t: Translate,
  view: ProviderView,
  { name, timezone }: { readonly name: string | undefined; readonly timezone: string },
) {
  const [few] = COUNTED_ROUNDS
  const tone = toneOfRounds(countRounds(roundsWithin(view.rounds, few)), few)
  const title = name ?? shortAddress(view.provider)
  const { rounds, lines } = providerTexts(t, view)
  return {
    title,
    chip: { tone, text: rounds },
    lines,
    fields: [],
    rounds: roundsGrid(t, view, { timezone, label: title }),
  }
}

function accountCard(
  app: App,
  t: Translate,
  account: Extract<LookUpAnswer, { kind: 'account' }>,
  { timezone }: Pick<Place, 'timezone'>,
): Card {
  const { address } = account
  const [main, ...others] = watchesOf(app, t, address, 'address')
  return {
    ...emptyCard(address),
    fields: [...accountFields(t, account), ...holdingFields(t, account, timezone)],
    main: main && { ...main, label: t('pages:home.answer.watch') },
    others,
    behind: providersBehind(account).map((one) => ({
      label: behindName(one),
      href: `/providers/${one.provider}`,
      watch: watchProvider(app, t, one.provider),
    })),
  }
}

/** The link that watches or follows a provider in the chat. */
function watchProvider(app: App, t: Translate, provider: Address): Action | undefined {
  const [main] = watchesOf(app, t, provider, 'provider')
  return main && { ...main, label: t('bot:button.watchProvider') }
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
      label: t(checkedKey(`bot:button.type.${name}`)),
      href: botUrl(app, watchStart(name, address)) ?? `/docs/watches/${name}`,
    }))
}
