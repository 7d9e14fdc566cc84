import type { FastifyInstance } from 'fastify'
import { formatNumber, formatPercent, shortAddress } from '#src/i18n/format.ts'
import { type Translate, typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { listEveryProvider } from '#src/operations/pages/look-ups.ts'
import {
  type ListedProvider,
  orderProviders,
  PROVIDER_ORDERS,
  type ProviderOrder,
  ROUNDS_PER_PROVIDER,
} from '#src/watches/provider-list.ts'
import {
  DAYS_COUNTED,
  goodShareOf,
  toneOfDays,
  toneOfRounds,
} from '#src/watches/provider-rounds.ts'
import { choicesOf, queryParametersOf, sendPage } from '../layout.ts'
import { linkPreview } from '../link-preview.ts'

/** Maximum length of the search text; a longer text is cut. */
const INPUT_MAX = 100
const FRESH_SECONDS = 60

/** `/providers`: every provider with its weight and last rounds. `?q=`: part of a name, or an address. */
export function providersPage(server: FastifyInstance, app: App): void {
  server.get('/providers', async (request, reply) => {
    const { q = '', sort } = queryParametersOf(request)
    const order = PROVIDER_ORDERS.find((name) => name === sort) ?? 'weight'
    const input = cutText(
      q
        .toWellFormed()
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim(),
      INPUT_MAX,
    )
    const address = readAddress(input)
    const choices = choicesOf(request)
    const chosen = Object.fromEntries(new URLSearchParams(choices))
    if (address.ok) return reply.redirect(`/providers/${address.value}${choices}`, 303)
    const { output } = await invoke(app, listEveryProvider, undefined, {
      limitKey: request.clientNetwork,
    })
    const matching = output.filter(({ name, provider }) => isMatch(input, name ?? provider))
    const found = orderProviders(matching, order)
    return sendPage(app, request, reply, {
      view: 'providers',
      parameters: ['q', 'sort'],
      freshSeconds: FRESH_SECONDS,
      data: (t) => ({
        title: t('pages:providers.title'),
        share: linkPreview(app, t, { path: '/providers', description: t('pages:providers.lead') }),
        input,
        choices: Object.entries(chosen).map(([name, value]) => ({ name, value })),
        sentence:
          output.length === 0
            ? t('pages:providers.empty')
            : found.length === 0
              ? t('pages:providers.none', { input: typed(input) })
              : undefined,
        columns: columnsOf(t, order, { ...(input !== '' && { q: input }), ...chosen }),
        rows: found.map((provider) => rowOf(t, provider)),
      }),
    })
  })
}

function isMatch(input: string, text: string): boolean {
  return text.toLowerCase().includes(input.toLowerCase())
}

/** Heads of the columns, each with the address of the list in its order. */
function columnsOf(
  t: Translate,
  order: ProviderOrder,
  parameters: Readonly<Record<string, string>>,
) {
  const column = (name: ProviderOrder, label: string) => ({
    label,
    href: `/providers?${new URLSearchParams({ sort: name, ...parameters })}`,
    sorted: name === order ? (name === 'weight' ? 'descending' : 'ascending') : undefined,
  })
  return [
    column('name', t('pages:home.answer.provider')),
    column('weight', t('pages:providers.weight')),
    column('worst', t('pages:providers.days', { count: DAYS_COUNTED })),
  ]
}

function rowOf(t: Translate, { provider, name, weight, rounds, days }: ListedProvider) {
  const { known, bad } = rounds
  return {
    path: `/providers/${provider}`,
    name: name ?? shortAddress(provider),
    weight: weight === null ? '–' : formatPercent(weight, t.locale),
    days: days === null ? '–' : formatPercent(goodShareOf(days), t.locale),
    daysTone: toneOfDays(days),
    tone: toneOfRounds(rounds, ROUNDS_PER_PROVIDER),
    rounds: known === 0 ? '–' : `${known - bad}/${known}`,
    // The dash of a provider without judged rounds already says that there is no data.
    noData:
      known === 0 || known === ROUNDS_PER_PROVIDER
        ? undefined
        : t('pages:provider.noData', {
            rounds: formatNumber(ROUNDS_PER_PROVIDER - known, t.locale),
          }),
  }
}
