import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { COMPILE_CACHE, QUICK_MODULES } from './test/support/compile-cache.ts'
import { needsOf } from './test/support/test-needs.ts'

const { light, heavy, sandbox } = needsOf('test/**/*.test.ts')
/** `npm run test:fast` leaves out what starts a process: a chain, a browser, a service. */
const isFast = process.env['FAST'] === '1'

/** Tests with a PostgreSQL of their own, and what else each of them starts. */
function withDatabase(name: string, include: readonly string[]): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      setupFiles: ['test/support/transaction-guard.ts'],
      globalSetup: ['test/support/global-setup.ts'],
    },
  }
}

export default defineConfig({
  test: {
    // A worker keeps its modules from file to file: nothing in ours remembers what one file did.
    isolate: false,
    // Processes that tests start read their modules compiled from there.
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, NODE_OPTIONS: QUICK_MODULES },
    execArgv: [QUICK_MODULES],
    // Files wait for processes, blocks and time-outs as well as they compute.
    maxWorkers: availableParallelism() + 1,
    // Only against hanging: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: ['{src,bot,sandbox}/**/*.test.ts'] } },
      withDatabase('integration', isFast ? light : [...light, ...heavy]),
      // The tests of the sandbox itself.
      withDatabase('sandbox', sandbox),
    ],
  },
})
