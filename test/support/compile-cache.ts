import { join } from 'node:path'

/** Cache of compiled modules for processes that tests start. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/watchdog-tests')

/** Loaded first in them, and in the workers of vitest: it halves the start of a service. */
export const QUICK_START_FLAG = `--import=${new URL('../../src/quick-start.js', import.meta.url).href}`
