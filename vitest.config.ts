import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { CACHE, QUICK_START_FLAG } from './test/support/cache.ts'
import { needsOf } from './test/support/test-needs.ts'

const { plain, world, random } = needsOf('{src,bot,sandbox,test}/**/*.test.ts')
/** `npm run test:fast` runs what needs nothing but Node, whose tests compute more than they wait. */
const isFast = process.env['FAST'] === '1'
/** `npm run test:tools` runs, and nothing else does, what needs programs that npm does not bring. */
const TOOLS = 'test/tools/'
const isTools = process.env['TOOLS'] === '1'
/** `npm run test:soak` runs what can be played longer. */
const isSoak = process.env['SOAK'] === 'whole'
/**
 * Whether one test may take many minutes, as there and in `npm run test:every`, which opens every screen in seven
 * locales. Go compiles each of the examples.
 */
const isLong = isSoak || isTools || process.env['EVERY_LOCALE'] === '1'
/** `npm run test:all` runs, after `npm test`, what plays long: files of this name. */
const LONG = '.long.test.ts'
const isAll = process.env['LONG'] === '1'
const chosen = (files: readonly string[]) =>
  files
    .filter((file) => file.startsWith(TOOLS) === isTools)
    .filter((file) => (isSoak ? random.includes(file) : file.endsWith(LONG) === isAll))

/**
 * V8 starts to mark the whole heap when less than a young generation is left until it may grow, with the
 * 64 MB of a large machine several times a second.
 */
const SMALL_NURSERY = '--max-semi-space-size=16'
/** Sets how many random inputs a test tries. */
const RUNS = 'test/support/runs.ts'
const WITH_WORLD = {
  extends: true as const,
  test: {
    name: 'world',
    include: chosen(world),
    setupFiles: [RUNS, 'test/support/guards.ts'],
    globalSetup: ['test/support/global-setup.ts'],
  },
}

export default defineConfig({
  test: {
    // A worker keeps its modules from file to file: nothing in ours remembers what one file did.
    isolate: false,
    // Node loads them, and compiles each once for all runs, in place of vite: no test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Processes that tests start read their modules compiled from there.
    env: { NODE_COMPILE_CACHE: CACHE, NODE_OPTIONS: QUICK_START_FLAG },
    execArgv: [QUICK_START_FLAG, SMALL_NURSERY],
    // Files with a world wait for processes, blocks and time-outs as well as they compute. Each worker first loads
    // a thousand modules.
    maxWorkers: availableParallelism() + (isFast ? 0 : 2),
    // Only against hanging: a busy machine may take its time.
    testTimeout: isLong ? 1_200_000 : 60_000,
    hookTimeout: isLong ? 600_000 : 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Workers are shared within a project only.
    projects: [
      { extends: true, test: { name: 'plain', include: chosen(plain), setupFiles: [RUNS] } },
      ...(isFast ? [] : [WITH_WORLD]),
    ],
  },
})
