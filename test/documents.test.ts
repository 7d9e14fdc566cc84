import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { testEnvironment } from './support/environment.ts'
import { every } from './support/every.ts'

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

interface Link {
  /** Path from the folder of the document; empty for the document itself. */
  readonly target: string
  /** The heading after `#`; empty for the whole file. */
  readonly heading: string
}

/** The document's links to files and headings of this repository. */
function linksOf(text: string): readonly Link[] {
  return [...text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)]
    .map(([, target = '', heading = '']) => ({ target, heading }))
    .filter(({ target }) => !/^\w+:/.test(target))
}

/** Whether the file exists, and has a heading with this address, as GitHub makes it. */
function isReached({ target, heading }: Link, path: string): boolean {
  const file = target === '' ? path : join(dirname(path), target)
  if (!existsSync(file)) return false
  if (heading === '') return true
  const titles = namesIn(readFileSync(file, 'utf8'), /^#+ (.*)$/gm)
  const addresses = titles.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return addresses.includes(heading)
}

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name)
}

test('the changelog speaks to the readers that CONTRIBUTING.md lists', () => {
  const readers = readFileSync('CONTRIBUTING.md', 'utf8').replaceAll(/\s+/g, ' ')
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const sections = [...changelog.matchAll(/^### (.*)$/gm)].map(([, name = '']) => name)
  expect(changelog.match(/^## .*$/gm)?.at(-1)).toBe('## 0.1.0')
  expect(sections.length).toBeGreaterThan(3)
  expect(sections.filter((name) => !readers.includes(`*${name}*`))).toEqual([])
})

test.each([
  ['README.md', 180],
  ['AGENTS.md', 120],
  ['docs/performance.md', 120],
  ['docs/scale.md', 120],
])('%s has at most %i lines', (path, most) => {
  expect(readFileSync(path, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(most)
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

test('documents name identifiers that exist beside their module', () =>
  every(DOCUMENTS, (path) => {
    const named = namesIn(readFileSync(path, 'utf8'), /`[\w./-]+\.ts: (\w+)`/g)
    expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(CODE))).toEqual([])
  }))

test('documents link to files and headings that exist', () =>
  every(DOCUMENTS, (path) => {
    const links = linksOf(readFileSync(path, 'utf8'))
    expect(links.filter((link) => !isReached(link, path))).toEqual([])
  }))

test('documents name files that exist', () =>
  every(DOCUMENTS, (path) => {
    const text = readFileSync(path, 'utf8')
    const places = namesIn(text, PLACE).filter((name) => !existsSync(name))
    const modules = namesIn(text, MODULE).filter((name) => !isModule(name))
    expect([...places, ...modules]).toEqual([])
  }))

test('the ready lines for each network are a configuration that the service starts with', () => {
  const page = readFileSync('docs/endpoints.md', 'utf8')
  const blocks = namesIn(page, /```sh\n(CHAIN_ID=[^`]*)```/g)
  const networks = blocks.map((block) => {
    const lines = block.trim().split('\n')
    const over = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
    const { chain } = loadConfig(testEnvironment(over))
    return chain.id
  })
  expect(networks).toEqual([14, 19, 114, 16])
})
