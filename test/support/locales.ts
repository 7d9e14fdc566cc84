import { LOCALES, type Locale } from '#src/kernel/locale.ts'

/** Whether tests open every screen in all seven locales (`EVERY_LOCALE`). */
export const isEveryLocale = process.env['EVERY_LOCALE'] !== undefined

/**
 * Locales in which tests open every screen: one for each writing direction, and with `npm run test:every` all
 * seven. Differences between languages, their texts and limits, are checked for all of them
 * by `test/locales.test.ts`.
 */
export const SCREEN_LOCALES: readonly Locale[] = isEveryLocale ? LOCALES : ['en', 'ar']
