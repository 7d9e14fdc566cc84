import { LOCALES, type Locale } from '#src/kernel/locale.ts'

/** Whether tests go through every screen in every language. */
export const isEvery = process.env['EVERY_LOCALE'] !== undefined

/**
 * Locales of tests that go through every screen: one for each writing direction, and with `npm run
 * test:every` all seven. Differences between languages, their texts and limits, are checked for all of them
 * by `test/locales.test.ts`.
 */
export const WALKED: readonly Locale[] = isEvery ? LOCALES : ['en', 'ar']
