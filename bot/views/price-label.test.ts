import { expect, test } from 'vitest'
import { usdText } from '#src/billing/price-text.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { LABEL_BUDGETS, labelWidth } from '#src/telegram/buttons.ts'

test.each(LOCALES)('a price fits its button in %s', (locale) => {
  const t = translator(locale)
  for (const key of ['bot:button.addSlot', 'bot:button.buyFor', 'bot:button.mySlots'] as const) {
    for (const credits of [1, 500, 43_200, 999_950]) {
      const label = t(key, { price: usdText(t, credits) })
      expect(labelWidth(label), label).toBeLessThanOrEqual(LABEL_BUDGETS[0])
    }
  }
})
