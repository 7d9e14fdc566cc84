import type { Page } from 'playwright-core'

/**
 * Factor by which waits are shortened: polls every three seconds then stay within the limits of the
 * service.
 */
const TIMES = 10

/**
 * Shortens the waits of a page's scripts, because the awaited events happen at once in tests.
 * Clocks keep their speed.
 */
export async function hurry(page: Page): Promise<void> {
  await page.addInitScript((times) => {
    const { setTimeout } = window
    const sooner = (work: () => void, ms = 0) => setTimeout(work, ms / times)
    Object.assign(window, { setTimeout: sooner })
  }, TIMES)
}
