import { execFileSync } from 'node:child_process'
import { NAMESPACES } from '#src/i18n/catalogue.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { type Catalogue, formsOf, stampOf, withFile } from './sources.ts'

const ROOT = new URL('../../', import.meta.url)

/** A text by plural ending. */
type Forms = Readonly<Record<string, string>>

/** The English text with this stamp, from the commits of its file; undefined where none has it. */
export function englishByStamp(key: string, stamp: string): Forms | undefined {
  const [name = ''] = key.split(':')
  const found = versionsOf(name).find((texts) => stampOf(texts, key) === stamp)
  return found && formsOf(found, key)
}

/** The texts of a locale in a commit. */
export function catalogueAt(commit: string, locale: Locale): Catalogue {
  return Object.assign({}, ...NAMESPACES.map((name) => fileAt(commit, locale, name)))
}

const versions = new Map<string, readonly Catalogue[]>()

/** An English file in each commit that changed it, newest first. */
function versionsOf(name: string): readonly Catalogue[] {
  const known = versions.get(name)
  if (known !== undefined) return known
  const commits = git('log', '--format=%H', '--', `locales/en/${name}.json`).split('\n')
  const read = commits.filter(Boolean).map((commit) => fileAt(commit, 'en', name))
  versions.set(name, read)
  return read
}

function fileAt(commit: string, locale: Locale, name: string): Catalogue {
  const path = `locales/${locale}/${name}.json`
  return git('ls-tree', '--name-only', commit, path) === ''
    ? {}
    : withFile(name, git('show', `${commit}:${path}`))
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
}
