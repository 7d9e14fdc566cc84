import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { readApiReference } from '#src/pages/docs/api-reference.ts'
import { documentedTests } from '../journeys/documented-world.ts'
import { needPrograms } from './needed.ts'

describe.each([
  ['curl', 'curl'],
  ['py', 'python3'],
  ['go', 'go'],
] as const)('in %s', (language, program) => {
  beforeAll(() => needPrograms(program))
  documentedTests(language)
})

test('the examples in Go are formatted by gofmt', () => {
  needPrograms('gofmt')
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  const folder = mkdtempSync(join(tmpdir(), 'watchdog-go-'))
  const files = readApiReference(app, translator('en')).operations.flatMap(({ id, calls }) => {
    const file = join(folder, `${id}.go`)
    const code = calls.find((call) => call.id === 'go')?.code
    writeFileSync(file, `${code}\n`)
    return file
  })
  expect(files.length).toBeGreaterThan(20)
  expect(execFileSync('gofmt', ['-l', ...files], { encoding: 'utf8' })).toBe('')
  rmSync(folder, { recursive: true })
})
