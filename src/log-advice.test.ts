import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createLogger } from './log.ts'
import { ADVICE } from './log-advice.ts'

const sources = globSync('{src,bot}/**/*.ts')
  .filter((path) => !/\.test\.ts$|log-advice/.test(path))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')
/** Messages of level `error` that are written where they are logged. */
const errors = [
  ...sources.matchAll(/\b(?:log|logger)\??\.error\(\s*(?:\{[^}]*\}|\w+),\s*'([^']+)'/g),
].map(([, message = '']) => message)

test('every line that someone must act on says what to do', () => {
  expect(errors.length).toBeGreaterThan(25)
  expect(errors.filter((message) => !(message in ADVICE))).toEqual([])
})

test('what to do is said of lines that exist', () => {
  expect(Object.keys(ADVICE).filter((message) => !sources.includes(`'${message}'`))).toEqual([])
})

test('a line of the log has it beside its own fields', () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  log.error({ job: 'prune' }, 'job failed')
  log.info({}, 'ready')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { job: 'prune', todo: expect.stringContaining('docs/operations.md, WatchdogJobFails') },
    { msg: 'ready' },
  ])
  expect(lines[1]).not.toContain('todo')
})
