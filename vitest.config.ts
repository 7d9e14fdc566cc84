import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { COMPILE_CACHE, QUICK_MODULES } from './test/support/compile-cache.ts'
import { LongestFirst } from './test/support/longest-first.ts'

export default defineConfig({
  test: {
    // A worker keeps its modules from file to file: nothing in ours remembers what one file did.
    isolate: false,
    // Processes that tests start read their modules compiled from there.
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, NODE_OPTIONS: QUICK_MODULES },
    execArgv: [QUICK_MODULES],
    // Files wait for processes, blocks and time-outs as well as they compute.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Only against hanging: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // A busy machine may break a race of processes once; a fault breaks it every time.
    retry: process.env.CI === undefined ? 0 : 2,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['{src,bot,sandbox}/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          setupFiles: ['test/support/transaction-guard.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
})
