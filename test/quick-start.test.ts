import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { PROCESS_ENVIRONMENT } from './support/environment.ts'
import { ROOT } from './support/service-process.ts'

type Resolved = readonly [specifier: string, parent: string, url: string, format: string | null]

/** Every import of the service, with what it resolves to. It ends for want of a configuration once all are loaded. */
async function importsWith(...first: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-imports-'))
  try {
    const file = join(folder, 'imports.json')
    const preloads = [...first, './test/support/record-imports.ts']
    const args = [...preloads.flatMap((path) => ['--import', path]), 'src/main.ts']
    const env = { ...PROCESS_ENVIRONMENT, IMPORTS_FILE: file }
    await new Promise<void>((resolve) => {
      execFile(process.execPath, args, { cwd: ROOT, env }, () => resolve())
    })
    const all: readonly Resolved[] = JSON.parse(await readFile(file, 'utf8'))
    return new Map(
      all.map(([specifier, parent, url, format]) => [`${specifier} ${parent}`, `${url} ${format}`]),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('every import is resolved to the same file and format as by Node', async () => {
  const [plain, quick] = await Promise.all([importsWith(), importsWith('./src/quick-start.js')])
  expect(plain.size).toBeGreaterThan(5000)
  expect(Object.fromEntries(quick)).toEqual(Object.fromEntries(plain))
})

test('a start loads neither the package that writes sign-in messages nor its peer', async () => {
  const imports = await importsWith('./src/quick-start.js')
  const loaded = [...imports.values()].filter((url) => /node_modules\/(?:siwe|ethers)\//.test(url))
  expect(loaded).toEqual([])
})

/** Makes a process believe that its Node has another version. */
const OLDER = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '22.11.0' })`

test.each([
  'start',
  'sandbox',
  'tour',
  'migrate',
  ...(['admin', 'doctor', 'router'] as const),
  ...(['release', 'rehearse', 'board'] as const),
] as const)('npm run %s refuses an older Node in one line', async (name) => {
  const [, args = ''] = packageJson.scripts[name].split(/\bnode /)
  const env = { NODE_OPTIONS: `--import=${OLDER.replaceAll(' ', '%20')}` }
  const printed = await new Promise<readonly unknown[]>((resolve) => {
    execFile(process.execPath, args.split(' '), { cwd: ROOT, env }, (error, out, err) =>
      resolve([error?.code, out, err]),
    )
  })
  const line = expect.stringMatching(/^Node 22\.11\.0 is too old: use Node 24\b.*\n$/)
  expect(printed).toEqual([1, '', line])
})
