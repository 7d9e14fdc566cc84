import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findBannedWords } from './support/words.ts'

const SCRIPT = join(import.meta.dirname, 'support/words.ts')

/** Runs the check in a folder that has one file of this text. */
function lintFile(text: string): { readonly status: number; readonly stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'watchdog-words-'))
  try {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/planted.ts'), text)
    execFileSync(process.execPath, [SCRIPT], { cwd: folder, stdio: 'pipe' })
    return { status: 0, stderr: '' }
  } catch (error) {
    const { status, stderr } = error as { readonly status: number; readonly stderr: Buffer }
    return { status, stderr: String(stderr) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('lint fails on a banned word and names the line', () => {
  const { status, stderr } = lintFile('export const one = 1\nexport const toldAt = new Date(0)\n')
  expect(status).toBe(1)
  expect(stderr).toContain('src/planted.ts:2 toldAt: say notified')
})

test('lint passes a file without one', () => {
  expect(lintFile('export const notifiedAt = new Date(0)\n')).toEqual({ status: 0, stderr: '' })
})

test.each([
  ['listUntold', true],
  ['tellsOnce', true],
  ['noteUse', true],
  ['lanes', true],
  ['alarmTold', true],
  ['standing', true],
  ['createKeeper', true],
  ['happenings', true],
  ['notification', false],
  ['intelligence', false],
  ['notes', false],
  ['planes', false],
])('%s is banned: %s', (name, isBanned) => {
  expect(findBannedWords('src/a.ts', `const ${name} = 1`).length > 0).toBe(isBanned)
})

test('texts and comments may use the words', () => {
  expect(findBannedWords('src/a.ts', "/** told */\nconst text = 'told' // told\n")).toEqual([])
})

test('a type of one word that fits several rooms is banned', () => {
  expect(findBannedWords('src/a.ts', 'export interface Outcome {}')).toHaveLength(1)
})
