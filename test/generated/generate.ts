import { writeFile } from 'node:fs/promises'
import { generateApi } from 'swagger-typescript-api'
import { REGISTRY } from '#src/operations/index.ts'
import { openApiDocument } from '#src/operations/openapi.ts'

/** The generated types that tests use. */
export const TYPES = new URL('./api.ts', import.meta.url)

/**
 * TypeScript as a customer would generate it from `GET /openapi.json`: all types, and with `client` the
 * functions that call the operations.
 */
export async function generate(options: { readonly client: boolean }): Promise<string> {
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  const spec = JSON.parse(JSON.stringify(openApiDocument(app, 'en')))
  const { files } = await generateApi({
    spec,
    output: false,
    silent: true,
    httpClientType: 'fetch',
    generateClient: options.client,
    sortTypes: true,
  })
  return files.map(({ fileContent }) => fileContent.replace('// @ts-nocheck\n', '')).join('\n')
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  await writeFile(TYPES, await generate({ client: false }))
}
