import type { FastifyInstance } from 'fastify'
import {
  SLOT_PRICE_CREDITS,
  TRIAL_DAYS,
  USD_PER_1000_CREDITS_MICROS,
} from '#src/billing/price-list.ts'
import { formatAmount } from '#src/i18n/format.ts'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { sendPage } from './layout.ts'

/** `/`: what this is, and the ways in. */
export function homePage(server: FastifyInstance, app: App): void {
  server.get('/', (request, reply) =>
    sendPage(app, request, reply, {
      view: 'home',
      data: (t) => ({
        title: t('pages:home.title'),
        botUrl: botUrl(app),
        watches: watchTypes(app, t),
        costs: costs(app, t),
      }),
    }),
  )
}

/** The bot's own page, or one place in it; undefined without a bot. */
export function botUrl(app: App, start?: string): string | undefined {
  const bot = app.botUsername()
  if (bot === undefined) return undefined
  return start === undefined ? `https://t.me/${bot}` : `https://t.me/${bot}?start=${start}`
}

/** Where nothing costs credits, nobody watches them. */
function watchTypes(app: App, t: Translate) {
  const shown = REGISTRY.filter(({ reads }) => reads === 'chain' || app.billing.enabled)
  return shown.map(({ name }) => ({
    label: t(builtKey(`signals:type.${name}.label`)),
    description: t(builtKey(`signals:type.${name}.description`)),
  }))
}

function costs(app: App, t: Translate): readonly string[] {
  if (!app.billing.enabled) return [t('pages:home.cost.free')]
  const usd = { units: BigInt(USD_PER_1000_CREDITS_MICROS), decimals: 6, symbol: 'USD' }
  return [
    t('pages:home.cost.slot', {
      slot: t('units:credits', { count: SLOT_PRICE_CREDITS }),
      amount: t('units:credits', { count: 1000 }),
      price: formatAmount(usd, t.locale),
    }),
    t('pages:home.cost.trial', { count: TRIAL_DAYS }),
  ]
}
