import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { COMPILE_CACHE, QUICK_MODULES } from './test/support/compile-cache.ts'
import { needsOf } from './test/support/test-needs.ts'

const { light, heavy } = needsOf('test/**/*.test.ts')
/** `npm run test:fast` leaves out what starts a process: a chain, a browser, a service. */
const isFast = process.env['FAST'] === '1'

/**
 * V8 starts to mark the whole heap when less than a young generation is left until it may grow, with the
 * 64 MB of a large machine several times a second.
 */
const SMALL_NURSERY = '--max-semi-space-size=16'

export default defineConfig({
  test: {
    // A worker keeps its modules from file to file: nothing in ours remembers what one file did.
    isolate: false,
    // Processes that tests start read their modules compiled from there.
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, NODE_OPTIONS: QUICK_MODULES },
    execArgv: [QUICK_MODULES, SMALL_NURSERY],
    // Files wait for processes, blocks and time-outs as well as they compute.
    maxWorkers: availableParallelism() + 2,
    // Only against hanging: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: ['{src,bot,sandbox}/**/*.test.ts'] } },
      {
        extends: true,
        // Workers are shared within a project only, and each project starts a PostgreSQL of its own.
        test: {
          name: 'integration',
          include: isFast ? [...light] : [...light, ...heavy],
          setupFiles: ['test/support/guards.ts', 'test/support/pruning-guard.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
})
