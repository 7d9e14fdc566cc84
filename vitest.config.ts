import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { COMPILE_CACHE, QUICK_START_FLAG } from './test/support/compile-cache.ts'
import { needsOf } from './test/support/test-needs.ts'

const UNIT = '{src,bot,sandbox}/**/*.test.ts'
const { light, heavy } = needsOf('test/**/*.test.ts')
const WITH_DATABASE = {
  setupFiles: ['test/support/guards.ts'],
  globalSetup: ['test/support/global-setup.ts'],
}
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
    // Node loads them, and compiles each once for all runs, in place of vite: no test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Processes that tests start read their modules compiled from there.
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, NODE_OPTIONS: QUICK_START_FLAG },
    execArgv: [QUICK_START_FLAG, SMALL_NURSERY],
    // Files wait for processes, blocks and time-outs as well as they compute; those of a fast run mostly compute,
    // and each worker first loads a thousand modules.
    maxWorkers: availableParallelism() + (isFast ? 1 : 2),
    // Only against hanging: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Workers are shared within a project only, and each project starts a PostgreSQL of its own.
    projects: isFast
      ? [{ extends: true, test: { name: 'fast', include: [UNIT, ...light], ...WITH_DATABASE } }]
      : [
          { extends: true, test: { name: 'unit', include: [UNIT] } },
          {
            extends: true,
            test: { name: 'integration', include: [...light, ...heavy], ...WITH_DATABASE },
          },
        ],
  },
})
