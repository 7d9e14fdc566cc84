import type { FastifyInstance, FastifyRequest } from 'fastify'
import { recentExample } from '#src/alerts/messages/example.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { formatNumber, formatPercent, formatTime } from '#src/i18n/format.ts'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { lookUp } from '#src/operations/pages/look-ups.ts'
import { getStats } from '#src/operations/rest/stats.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import { BALANCE_EXAMPLE } from '#src/watches/types/balance-example.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { botUrl } from '../bot-url.ts'
import { createKeptPages } from '../kept-pages.ts'
import { choicesOf, localeOf, type Page, queryParametersOf, sendPage, zoneOf } from '../layout.ts'
import { linkPreview } from '../link-preview.ts'
import { answerView, exampleCard } from './look-up-view.ts'
import { priceCards } from './price-cards.ts'

/** Maximum length of the box's text; a longer text is cut. */
const INPUT_MAX = 200

/**
 * `/`: a search box for an address or a provider, which needs no sign-in, an example of an alert, prices,
 * and links to start. `?q=`: the text of the box.
 */
export function homePage(server: FastifyInstance, app: App): void {
  const pages = createKeptPages(app)
  server.get('/', async (request, reply) => {
    const input = typedIn(request)
    if (input === '') return pages.send(request, reply, () => homeOf(app, request))
    const { output } = await invoke(app, lookUp, undefined, {
      query: { text: input },
      locale: localeOf(request),
      limitKey: request.clientNetwork,
    })
    return sendPage(app, request, reply, await homeOf(app, request, { input, answer: output }))
  })
}

/** The text of the box: control characters become spaces, and a longer text is cut. */
function typedIn(request: FastifyRequest): string {
  const { q = '' } = queryParametersOf(request)
  return cutText(
    q
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim(),
    INPUT_MAX,
  )
}

async function homeOf(
  app: App,
  request: FastifyRequest,
  asked?: { readonly input: string; readonly answer: LookUpAnswer },
): Promise<Page> {
  const [assets, stats] = await Promise.all([
    app.billing.enabled ? app.paymentOptions.list() : [],
    readStats(app),
  ])
  const now = app.clock.now()
  const timezone = zoneOf(request)
  const choices = new URLSearchParams(choicesOf(request))
  const hrefOf = (text: string) => `/?${new URLSearchParams([['q', text], ...choices])}`
  return {
    view: 'home',
    parameters: ['q'],
    // An answer is soon out of date, so it is not cached.
    isUncached: asked !== undefined,
    data: (t) => {
      const reader = { locale: t.locale, timezone }
      const example = recentExample(reader, { openedAt: now, publicUrl: app.publicUrl })
      const answer = asked && answerView(app, t, asked, { timezone, hrefOf })
      const card = answer?.card
      return {
        title: t('pages:home.title'),
        share: linkPreview(app, t, { path: '/', description: t('pages:home.lead') }),
        botUrl: botUrl(app),
        input: asked?.input ?? '',
        choices: [...choices].map(([name, value]) => ({ name, value })),
        answer,
        card: card ?? exampleCard(t, example, timezone),
        isExample: card === undefined,
        alert: alertMessage(t, example, now),
        watches: watchTypes(app, t),
        exampleWallet: BALANCE_EXAMPLE.address,
        prices: app.billing.enabled ? priceCards(app, t, assets) : [],
        stats: stats && statsLine(t, stats),
      }
    },
  }
}

/**
 * The public figures; undefined while they are unavailable, in which case the page is shown without them.
 */
async function readStats(app: App) {
  try {
    return (await invoke(app, getStats, undefined, {})).output
  } catch (error) {
    app.log.warn(
      { error: loggableError(error) },
      'public figures are not available; the start page is shown without them',
    )
    return undefined
  }
}

/** The example as a chat shows it: the markup and the labels of the buttons that a real alert has. */
function alertMessage(t: Translate, example: Envelope, now: Date) {
  const { html, rows } = alertView(example, {}, { now })
  return {
    html,
    rows: rows.map((row) => row.map(({ label }) => label)),
    time: formatTime(now, t.locale, example.timezone),
  }
}

/** Watch types; types about credits are omitted if billing is off. */
function watchTypes(app: App, t: Translate) {
  const shown = REGISTRY.filter(({ reads }) => reads === 'chain' || app.billing.enabled)
  return shown.map(({ name, form }) => ({
    path: `/docs/watches/${name}`,
    icon: form.icon,
    label: t(checkedKey(`bot:button.type.${name}`)),
    description: t(checkedKey(`signals:type.${name}.description`)),
  }))
}

function statsLine(
  t: Translate,
  stats: {
    readonly alerts24h: number
    readonly deliverySuccessRate24h: number | null
    readonly asOf: Date
  },
): string | undefined {
  const { alerts24h, deliverySuccessRate24h: rate, asOf } = stats
  if (alerts24h === 0 || rate === null) return undefined
  return t('pages:home.stats', {
    alerts: formatNumber(alerts24h, t.locale),
    percent: formatPercent(rate, t.locale),
    time: formatTime(asOf, t.locale, 'UTC', { offset: true }),
  })
}
