import { join } from 'node:path'

/** Where processes that tests start keep their modules compiled. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/watchdog-tests')

/** What Node loads first in them, and in the workers of vitest: a service starts in about half the time. */
export const QUICK_MODULES = `--import=${new URL('../../src/quick-start.ts', import.meta.url).href}`
