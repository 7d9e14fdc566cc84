import { join } from 'node:path'

/**
 * Folder of what tests keep from run to run: the browser from npm, its fonts, and Node's compile cache for processes
 * that tests start.
 */
export const CACHE = join(import.meta.dirname, '../../node_modules/.cache/watchdog-tests')

/**
 * Node option that preloads `src/quick-start.js`, for processes that tests start and for vitest's workers. It
 * halves the time a service needs to start.
 */
export const QUICK_START_FLAG = `--import=${new URL('../../src/quick-start.js', import.meta.url).href}`
