import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { LABEL_BUDGETS, labelWidth } from '#src/telegram/buttons.ts'
import { labelWithPrice } from './price-label.ts'

const KEYS = ['bot:button.addSlot', 'bot:button.buyFor', 'bot:button.mySlots'] as const

test('a price on a button has credits and dollars', () => {
  const t = translator('en')
  const label = (credits: number) =>
    labelWithPrice(t, credits, (price) => t('bot:button.buyFor', { price }))
  expect(label(500)).toBe('Buy: 500 · 0.50\u00a0USD')
  expect(label(999_950)).toBe('Buy: 999.95\u00a0USD')
})

test.each(LOCALES)('a price fits its button in %s, usual ones with both', (locale) => {
  const t = translator(locale)
  for (const key of KEYS) {
    for (const credits of [500, 2000, 10_000, 43_200, 999_950]) {
      const label = labelWithPrice(t, credits, (price) => t(key, { price }))
      expect(labelWidth(label), label).toBeLessThanOrEqual(LABEL_BUDGETS[0])
      if (credits <= 2000) expect(label).toContain(' · ')
    }
  }
})
