import type { FastifyInstance } from 'fastify'
import { exampleEnvelope } from '#src/alerts/example.ts'
import {
  DURATION_DISCOUNTS,
  SLOT_PRICE_CREDITS,
  TRIAL_DAYS,
  USD_PER_1000_CREDITS_MICROS,
} from '#src/billing/price-list.ts'
import type { AssetState } from '#src/billing/topups/payment-options.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import { glyphOf, severityWord } from '#src/channels/wording.ts'
import {
  formatAmount,
  formatList,
  formatNumber,
  formatPercent,
  formatTime,
} from '#src/i18n/format.ts'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import { traceOf } from '#src/kernel/trace.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { getStats } from '#src/operations/stats.ts'
import { botLink } from '#src/telegram/links.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { sendPage } from './layout.ts'

/** The sample event: the most frequent reason why operators of data providers come. */
const SAMPLE_EVENT = 'fsp.ftso-commit'

/** `/`: description, sample message, present prices, and entry points. */
export function homePage(server: FastifyInstance, app: App): void {
  server.get('/', async (request, reply) => {
    const [assets, stats] = await Promise.all([
      app.billing.enabled ? app.paymentOptions.list() : [],
      readStats(app),
    ])
    return sendPage(app, request, reply, {
      view: 'home',
      data: (t) => ({
        title: t('pages:home.title'),
        botUrl: botUrl(app),
        sample: sample(app, t),
        watches: watchTypes(app, t),
        costs: costs(app, t, assets),
        isBilled: app.billing.enabled,
        stats: stats && statsLine(t, stats),
      }),
    })
  })
}

/** The public figures; undefined while they are unavailable: the page is shown without them. */
async function readStats(app: App) {
  try {
    return (await invoke(app, getStats, undefined, {})).output
  } catch (error) {
    app.log.warn(
      { error: traceOf(error) },
      'public figures not available; the start page is shown without them',
    )
    return undefined
  }
}

/** Link to the bot, optionally with a start parameter; undefined without a bot. */
export function botUrl(app: App, start?: string): string | undefined {
  const bot = app.botUsername()
  if (bot === undefined) return undefined
  return start === undefined ? `https://t.me/${bot}` : botLink(bot, start)
}

/** A sample message as people receive it. */
function sample(app: App, t: Translate) {
  const { message } = exampleEnvelope(
    SAMPLE_EVENT,
    { locale: t.locale, timezone: 'UTC' },
    {
      severity: 'warning',
      firedAt: app.clock.now(),
      publicUrl: app.publicUrl,
    },
  )
  return {
    title: message.title,
    chip: { tone: message.severity, text: `${glyphOf(message)} ${severityWord(t, message)}` },
    label: message.watchLabel,
    paragraphs: message.body.split('\n').filter((line) => line !== ''),
  }
}

/** Watch types; without billing those of credits are omitted. */
function watchTypes(app: App, t: Translate) {
  const shown = REGISTRY.filter(({ reads }) => reads === 'chain' || app.billing.enabled)
  return shown.map(({ name }) => ({
    path: `/docs/watches/${name}`,
    label: t(builtKey(`signals:type.${name}.label`)),
    description: t(builtKey(`signals:type.${name}.description`)),
  }))
}

function costs(app: App, t: Translate, assets: readonly AssetState[]): readonly string[] {
  if (!app.billing.enabled) return [t('pages:home.cost.free')]
  const usd = (credits: number) => {
    const micros = (BigInt(credits) * BigInt(USD_PER_1000_CREDITS_MICROS)) / 1000n
    return formatAmount({ units: micros, decimals: 6, symbol: 'USD' }, t.locale)
  }
  return [
    t('pages:home.cost.slot', {
      slot: t('units:credits', { count: SLOT_PRICE_CREDITS }),
      usd: usd(SLOT_PRICE_CREDITS),
      amount: t('units:credits', { count: 1000 }),
      price: usd(1000),
    }),
    ...DURATION_DISCOUNTS.toReversed().map(({ minPeriods, discountBps }) =>
      t('pages:home.cost.discount', {
        percent: formatPercent(discountBps / 10_000, t.locale),
        count: minPeriods,
      }),
    ),
    ...payments(app, t, assets),
    t('pages:home.cost.trial', { count: TRIAL_DAYS }),
  ]
}

/** Payment assets available now, with bonuses. */
function payments(
  { billing }: App,
  t: Translate,
  assets: readonly AssetState[],
): readonly string[] {
  const usable = assets.filter(({ available, paused }) => available && !paused)
  if (usable.length === 0) return []
  const names = usable.map(({ asset }) => {
    const symbol = symbolOf(asset.key, billing.serviceTokenSymbol)
    if (asset.bonusBps === 0) return symbol
    const percent = formatPercent(asset.bonusBps / 10_000, t.locale, { signed: true })
    return `${symbol} (${percent})`
  })
  return [t('pages:home.cost.assets', { assets: formatList(names, t.locale) })]
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
