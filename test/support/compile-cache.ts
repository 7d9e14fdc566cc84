import { join } from 'node:path'

/** Where processes that tests start keep their modules compiled. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/watchdog-tests')
