import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // A worker keeps its modules from file to file: nothing in ours remembers what one file did.
    isolate: false,
    // Processes that tests start read their modules compiled from there.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/watchdog-tests') },
    // Files wait for processes, blocks and time-outs more than they compute.
    maxWorkers: '100%',
    // Only against hanging: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine may break a race of processes once; a fault breaks it every time.
    retry: process.env.CI === undefined ? 0 : 2,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts', 'bot/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
})
