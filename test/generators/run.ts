/**
 * Generates clients from the OpenAPI document with the generators that people use, and compiles what they wrote. Each
 * works in a temporary folder. The generators have a lockfile of their own and are no part of the product.
 *
 * A generator whose programs this machine does not have is named as not tried. Then the client runs in runtimes other than
 * Node.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { format, promisify } from 'node:util'
import { expectSame, prepareRuntimes, RUNTIMES } from '../clients/runtimes.ts'
import { englishDocument, generate } from '../generated/generate.ts'

const HERE = import.meta.dirname
const OUTPUT_MAX = 64 * 1024 * 1024
const LINES_SHOWN = 40
const execute = promisify(execFile)

/** A generator, and what compiles its code. */
interface Generator {
  readonly name: string
  /** Programs that it and its compiler need besides Node. */
  readonly programs: readonly string[]
  /** Generates from `openapi.json` of the folder above, and compiles. @throws Error with the output of the failed program */
  run(folder: string): Promise<void>
}

/** Runs a program in a folder. */
async function run(folder: string, program: string, ...args: readonly string[]): Promise<void> {
  await execute(program, [...args], { cwd: folder, maxBuffer: OUTPUT_MAX })
}

/** A program from npm. */
const tool = (folder: string, name: string) => join(folder, '../node_modules/.bin', name)

/** A generator from npm that writes TypeScript. */
function typescript(
  name: string,
  entry: string,
  write: (folder: string) => Promise<void>,
): Generator {
  return {
    name,
    programs: [],
    run: async (folder) => {
      await write(folder)
      await compileTypescript(folder, entry)
    },
  }
}

async function compileTypescript(
  folder: string,
  entry: string,
  compiler = tool(folder, 'tsc'),
): Promise<void> {
  const kind = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022']
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022,dom,dom.iterable']
  await run(folder, compiler, ...kind, ...strict, entry)
}

/** A generator from PyPI, or what compiles its Python. */
const python = (folder: string, name: string) => join(folder, '../python/bin', name)

/** Compiles Python by importing every module of a package. */
const IMPORT_ALL = `
import importlib, pkgutil, sys
sys.path.insert(0, '.')
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):
    importlib.import_module(module.name)
`

/** A language of openapi-generator. */
function openapiGenerator(
  language: string,
  {
    programs = [],
    options = [],
    compile,
  }: {
    readonly programs?: readonly string[]
    readonly options?: readonly string[]
    compile(folder: string): Promise<void>
  },
): Generator {
  return {
    name: `openapi-generator ${language}`,
    programs: ['python3', 'java', ...programs],
    run: async (folder) => {
      const files = ['-i', '../openapi.json', '-o', 'client']
      await run(
        folder,
        python(folder, 'openapi-generator-cli'),
        'generate',
        ...files,
        '-g',
        language,
        ...options,
      )
      await compile(join(folder, 'client'))
    },
  }
}

/** A generator that is a Go program, run as the version that is named here. */
function go(
  name: string,
  program: string,
  { config, args }: { readonly config: string; readonly args: readonly string[] },
): Generator {
  return {
    name,
    programs: ['go'],
    run: async (folder) => {
      await mkdir(join(folder, 'client'))
      await writeFile(join(folder, 'go.mod'), 'module example.org/generated\n\ngo 1.24\n')
      await writeFile(join(folder, 'config.yml'), config)
      await run(folder, 'go', 'run', program, '--config', 'config.yml', ...args, '../openapi.json')
      await run(folder, 'go', 'mod', 'tidy')
      await run(folder, 'go', 'build', './...')
    },
  }
}

const GENERATORS: readonly Generator[] = [
  typescript('openapi-typescript', 'client.ts', (folder) =>
    run(folder, tool(folder, 'openapi-typescript'), '../openapi.json', '-o', 'client.ts'),
  ),
  typescript('@hey-api/openapi-ts', 'client/index.ts', (folder) =>
    run(folder, tool(folder, 'openapi-ts'), '-i', '../openapi.json', '-o', 'client'),
  ),
  typescript('openapi-typescript-codegen', 'client/index.ts', (folder) =>
    run(folder, tool(folder, 'openapi'), '--input', '../openapi.json', '--output', 'client'),
  ),
  typescript('orval', 'client.ts', (folder) =>
    run(
      folder,
      tool(folder, 'orval'),
      ...['--input', '../openapi.json', '--output', 'client.ts', '--client', 'fetch'],
    ),
  ),
  typescript('oazapfts', 'client.ts', (folder) =>
    run(folder, tool(folder, 'oazapfts'), '../openapi.json', 'client.ts'),
  ),
  typescript('swagger-typescript-api', 'client.ts', async (folder) =>
    writeFile(join(folder, 'client.ts'), await generate({ client: true })),
  ),
  {
    name: 'openapi-python-client',
    programs: ['python3'],
    run: async (folder) => {
      const files = ['--path', '../openapi.json', '--output-path', 'client', '--meta', 'none']
      await run(folder, python(folder, 'openapi-python-client'), 'generate', ...files)
      await run(folder, python(folder, 'python'), '-c', IMPORT_ALL, 'client')
    },
  },
  {
    name: 'datamodel-code-generator',
    programs: ['python3'],
    run: async (folder) => {
      const kind = ['--input-file-type', 'openapi', '--output-model-type', 'pydantic_v2.BaseModel']
      const files = ['--input', '../openapi.json', '--output', 'client.py']
      await run(folder, python(folder, 'datamodel-codegen'), ...kind, ...files)
      await run(folder, python(folder, 'python'), '-c', 'import client')
    },
  },
  openapiGenerator('python', {
    compile: (folder) =>
      run(folder, python(join(folder, '..'), 'python'), '-c', IMPORT_ALL, 'openapi_client'),
  }),
  openapiGenerator('typescript-fetch', {
    compile: (folder) => compileTypescript(folder, 'index.ts', tool(join(folder, '..'), 'tsc')),
  }),
  openapiGenerator('go', {
    programs: ['go'],
    // Its tests need another module.
    compile: async (folder) => {
      await rm(join(folder, 'test'), { recursive: true })
      await run(folder, 'go', 'build', './...')
    },
  }),
  // Without `skip-prune` it leaves out the schemas that only the webhook uses, and writes code that needs them.
  go('oapi-codegen', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2', {
    config:
      'package: client\noutput: client/client.go\ngenerate: { models: true, client: true }\n' +
      'output-options: { skip-prune: true }\n',
    args: [],
  }),
  // It leaves out the operations whose bodies or answers have unions of two texts, or of two objects without a constant.
  go('ogen', 'github.com/ogen-go/ogen/cmd/ogen@v1.25.0', {
    config:
      'generator:\n  ignore_not_implemented:\n' +
      '    - complex anyOf\n    - type-based discrimination with same jxType\n',
    args: ['--target', 'client', '--package', 'client'],
  }),
  openapiGenerator('java', {
    programs: ['mvn'],
    options: ['--library', 'native'],
    compile: (folder) => run(folder, 'mvn', '-q', '-B', '-Dmaven.test.skip=true', 'compile'),
  }),
]

/** Programs that are not in the path. */
function missing(programs: readonly string[]): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
}

/** Prints the outcome of a generator. @returns whether it failed */
async function attempt(
  folder: string,
  { name, programs, run: runIt }: Generator,
): Promise<boolean> {
  const lacking = missing(programs)
  if (lacking.length > 0) {
    process.stdout.write(format('not tried here: %s (no %s)\n', name, lacking.join(', ')))
    return false
  }
  const own = join(folder, name.replaceAll(/\W+/g, '-'))
  await mkdir(own)
  try {
    await runIt(own)
    process.stdout.write(format('compiles: %s\n', name))
    return false
  } catch (error) {
    process.stdout.write(format('FAILED: %s\n%s\n', name, outputOf(error)))
    return true
  }
}

function outputOf(error: unknown): string {
  const { stdout = '', stderr = '', message = '' }: Partial<Record<string, string>> = Object(error)
  const text = [stdout, stderr].join('\n').trim() || message
  return text.split('\n').slice(-LINES_SHOWN).join('\n')
}

/** Runs the client in each runtime, and prints the outcomes. @returns how many failed */
async function attemptRuntimes(folder: string): Promise<number> {
  const own = join(folder, 'runtimes')
  await mkdir(own)
  const server = await prepareRuntimes(own)
  let failed = 0
  for (const { name, run } of RUNTIMES) {
    try {
      expectSame(await run(own, join(folder, 'node_modules/.bin')))
      if (server.stolen() > 0) throw new Error('it followed a redirect')
      process.stdout.write(format('works: %s\n', name))
    } catch (error) {
      failed++
      process.stdout.write(format('FAILED: %s\n%s\n', name, outputOf(error)))
    }
  }
  server.close()
  return failed
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'generators-'))
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(englishDocument()))
    for (const list of ['package.json', 'package-lock.json']) {
      await copyFile(join(HERE, list), join(folder, list))
    }
    await run(folder, 'npm', 'ci')
    if (missing(['python3']).length === 0) {
      await run(folder, 'python3', '-m', 'venv', 'python')
      const list = join(HERE, 'requirements.txt')
      await run(folder, 'python/bin/pip', 'install', '--quiet', '--requirement', list)
    }
    let failed = 0
    for (const generator of GENERATORS) if (await attempt(folder, generator)) failed++
    failed += await attemptRuntimes(folder)
    if (failed > 0) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await main()
