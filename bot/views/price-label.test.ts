import { expect, test } from 'vitest'
import { usdText } from '#src/billing/price-text.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { LABEL_BUDGETS, labelWidth } from '#src/telegram/buttons.ts'
import { labelWithPrice } from './price-label.ts'

const KEYS = ['bot:button.addSlot', 'bot:button.buyFor', 'bot:button.mySlots'] as const

test('a price on a button is in credits, in dollars where these are too long', () => {
  const t = translator('en')
  const label = (credits: number, before = '') =>
    labelWithPrice(t, credits, (price) => `${before}${t('bot:button.buyFor', { price })}`)
  expect(label(1)).toBe('Buy: 1 credit')
  expect(label(500)).toBe('Buy: 500 credits')
  expect(label(999_950)).toBe('Buy: 999,950 credits')
  expect(label(999_950, 'Again: ')).toBe('Again: Buy: 999.95\u00a0USD')
})

test.each(LOCALES)('a price fits its button in %s and has its unit', (locale) => {
  const t = translator(locale)
  for (const key of KEYS) {
    for (const credits of [1, 2, 500, 2000, 10_000, 43_200, 999_950]) {
      const label = labelWithPrice(t, credits, (price) => t(key, { price }))
      expect(labelWidth(label), label).toBeLessThanOrEqual(LABEL_BUDGETS[0])
      const priced = [t('units:credits', { count: credits }), usdText(t, credits)]
      expect(
        priced.some((price) => label === t(key, { price })),
        label,
      ).toBe(true)
    }
  }
})
