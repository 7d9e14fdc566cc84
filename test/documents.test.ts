import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const DOCUMENTS = [...globSync('*.md'), ...globSync('docs/**/*.md')].filter(
  (path) => path !== 'CHANGELOG.md',
)
/** Every module, with a slash before it, so that the end of its path can be compared. */
const MODULES = globSync('{src,bot,sandbox,test,examples}/**/*.ts').map((path) => `/${path}`)
/** A file or folder by its whole path, in a code span. */
const PLACE = /`((?:src|bot|sandbox|test|locales|examples|docs)\/[\w./-]*\w\/?)(?=[`:])/g
/** A module by the end of its path, in a code span. */
const MODULE = /`([\w./-]*\w\.ts)(?=[`:])/g

/** Code of the service with single spaces, for phrases that a line break divides. */
const CODE = globSync('{src,bot}/**/*.ts')
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')
  .replaceAll(/\s+/g, ' ')
/** Commands in code spans, and the example of a commit: no lines of the log. */
const COMMAND = /^(npm|promtool) /
const EXAMPLE = 'delivery: park rows behind a failed head'

function isModule(name: string): boolean {
  return existsSync(name) || MODULES.some((path) => path.endsWith(`/${name}`))
}

/** Targets of the document's links to files. */
function linksOf(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s#]*)(?:#[^)]*)?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => target !== '' && !/^\w+:/.test(target))
}

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name)
}

test('every entry of the changelog begins with a tag that CONTRIBUTING.md lists', () => {
  const tags = new Set(namesIn(readFileSync('CONTRIBUTING.md', 'utf8'), /`\[([A-Z]+)\]`/g))
  const entries = readFileSync('CHANGELOG.md', 'utf8').match(/^- .*$/gm) ?? []
  expect(entries.length).toBeGreaterThan(100)
  expect(entries.filter((line) => !tags.has(/^- \[([A-Z]+)\] /.exec(line)?.[1] ?? ''))).toEqual([])
})

test('the documents for operators and contributors name lines of the log as the service writes them', () => {
  const phrases = ['docs/operations.md', 'docs/billing.md', 'CONTRIBUTING.md'].flatMap((path) => {
    const text = readFileSync(path, 'utf8').replaceAll(/```[\s\S]*?```/g, '')
    return namesIn(text.replaceAll(/\s+/g, ' '), /`([a-z]+[,;:]?(?: [a-z]+[,;:]?)+)`/g)
  })
  const lines = phrases.filter((phrase) => !COMMAND.test(phrase) && phrase !== EXAMPLE)
  expect(lines.length).toBeGreaterThan(20)
  expect(lines.filter((line) => !CODE.includes(line))).toEqual([])
})

test.each(DOCUMENTS)('%s names identifiers that exist beside their module', (path) => {
  const named = namesIn(readFileSync(path, 'utf8'), /`[\w./-]+\.ts: (\w+)`/g)
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(CODE))).toEqual([])
})

test.each(DOCUMENTS)('%s links to files that exist', (path) => {
  const links = linksOf(readFileSync(path, 'utf8'))
  expect(links.filter((target) => !existsSync(join(dirname(path), target)))).toEqual([])
})

test.each(DOCUMENTS)('%s names files that exist', (path) => {
  const text = readFileSync(path, 'utf8')
  const places = namesIn(text, PLACE).filter((name) => !existsSync(name))
  const modules = namesIn(text, MODULE).filter((name) => !isModule(name))
  expect([...places, ...modules]).toEqual([])
})
