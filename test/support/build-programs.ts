import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Programs that tests start often, each with its source below the project's folder. */
export const PROGRAMS = {
  service: 'src/main.ts',
  sandbox: 'sandbox/main.ts',
  'pay-and-wait': 'test/billing/pay-and-wait.ts',
  'worker-in-haste': 'test/delivery/worker-in-haste.ts',
  'worker-that-hangs': 'test/delivery/worker-that-hangs.ts',
} as const

export type Program = keyof typeof PROGRAMS

/**
 * Packages that are not bundled, because they have binaries, files or threads of their own; `siwe`, because a bundle
 * imports CommonJS late without the names of its exports.
 */
const EXTERNAL = ['@resvg/resvg-js', 'pino', 'playwright-core', 'secp256k1', 'siwe', 'vitest']
/** Defines `require` for bundled CommonJS packages. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/**
 * Writes each program as one file, and beside it the modules that several programs share. The service then needs a
 * third of the processor time to start, because Node reads ten files instead of 2,000.
 *
 * @param root the project's folder
 * @param folder output folder, below the project's `node_modules`, so that packages are found
 */
export async function buildPrograms(root: string, folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: PROGRAMS,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: EXTERNAL,
    // Some packages compare the names of classes, for example node-fetch that of `AbortSignal`.
    keepNames: true,
    banner: { js: REQUIRE },
    logLevel: 'error',
    plugins: [
      {
        name: 'source-paths',
        setup: ({ onLoad }) => {
          // Modules find their files beside their source, as without a bundle.
          onLoad({ filter: /[\\/](?:src|bot|sandbox|test)[\\/][^?]*\.ts$/ }, async ({ path }) => {
            const code = await readFile(path, 'utf8')
            const contents = code
              .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
              .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
            return { contents, loader: 'ts' }
          })
        },
      },
    ],
  })
}

/** Path of a program that `buildPrograms` wrote. */
export function programPath(folder: string, program: Program): string {
  return join(folder, `${program}.mjs`)
}

/** Folder with the compile cache of the programs in this folder. */
export function compileCacheOf(folder: string): string {
  return join(folder, 'compiled')
}
