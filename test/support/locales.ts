import { LOCALES, type Locale } from '#src/kernel/locale.ts'

/**
 * The languages of tests that go through every screen: one for each direction of writing, and with
 * `npm run test:every` all seven. What differs between languages, their texts and limits, is held for all
 * of them by `test/locales.test.ts`.
 */
export const WALKED: readonly Locale[] =
  process.env['EVERY_LOCALE'] === undefined ? ['en', 'ar'] : LOCALES
