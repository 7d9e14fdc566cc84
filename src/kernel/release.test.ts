import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readCommit } from './release.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const folder = mkdtempSync(join(tmpdir(), 'watchdog-release-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each<[string, Readonly<Record<string, string>>, string]>([
  ['an image has a file', { COMMIT: `${COMMIT}\n` }, '0123456789ab'],
  ['an image that was built without it', { COMMIT: '\n' }, 'unknown'],
  [
    'a branch',
    { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': COMMIT },
    '0123456789ab',
  ],
  [
    'a packed branch',
    {
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/packed-refs': `# pack\n${COMMIT} refs/heads/main\n`,
    },
    '0123456789ab',
  ],
  ['a tag or commit', { '.git/HEAD': `${COMMIT}\n` }, '0123456789ab'],
  [
    'a further work tree',
    {
      '.git': 'gitdir: elsewhere/worktrees/second\n',
      'elsewhere/worktrees/second/HEAD': 'ref: refs/heads/second\n',
      'elsewhere/worktrees/second/commondir': '../..\n',
      'elsewhere/refs/heads/second': COMMIT,
    },
    '0123456789ab',
  ],
  ['an archive of the sources', {}, 'unknown'],
])('%s', (name, files, expected) => {
  const root = join(folder, name.replaceAll(' ', '-'))
  mkdirSync(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text.replace('gitdir: ', `gitdir: ${root}/`))
  }
  expect(readCommit(root)).toBe(expected)
})
