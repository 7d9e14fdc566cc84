import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateApi } from 'swagger-typescript-api'
import { REGISTRY } from '#src/operations/index.ts'
import { openApiDocument } from '#src/operations/openapi/openapi.ts'
import { writeClient } from './client.ts'
import { packClient } from './client-package.ts'
import { writePythonModels, writePythonOperations } from './python.ts'

/** The generated files of the client, which tests use, too. */
const FOLDER = new URL('../../clients/typescript/src/generated/', import.meta.url)

const PYTHON = new URL('../../clients/python/src/flare_watchdog/', import.meta.url)

/** The OpenAPI document in English, as a customer gets it. */
export function englishDocument() {
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  return JSON.parse(JSON.stringify(openApiDocument(app, 'en')))
}

/**
 * TypeScript as a customer would generate it from `GET /openapi.json`: all types, and with `client` the
 * functions that call the operations.
 */
export async function generate(options: { readonly client: boolean }): Promise<string> {
  const { files } = await generateApi({
    spec: englishDocument(),
    output: false,
    silent: true,
    httpClientType: 'fetch',
    generateClient: options.client,
    sortTypes: true,
  })
  return files.map(({ fileContent }) => fileContent.replace('// @ts-nocheck\n', '')).join('\n')
}

/** The generated files by address, as they must be. */
export async function generatedFiles(): Promise<ReadonlyMap<URL, string>> {
  return new Map([
    [new URL('models.ts', FOLDER), await generate({ client: false })],
    [new URL('operations.ts', FOLDER), format(writeClient(englishDocument()))],
    [new URL('models.py', PYTHON), writePythonModels(englishDocument())],
    [new URL('_operations.py', PYTHON), writePythonOperations(englishDocument())],
  ])
}

/** Formats as the rest of the project. */
function format(text: string): string {
  const biome = join(import.meta.dirname, '../../node_modules/.bin/biome')
  const options = ['format', '--stdin-file-path=clients/typescript/src/operations.ts']
  return execFileSync(biome, options, { input: text, encoding: 'utf8' })
}

if (process.argv[1] === import.meta.filename) {
  for (const [file, text] of await generatedFiles()) await writeFile(file, text)
  await packClient(join(import.meta.dirname, '../../examples'))
}
