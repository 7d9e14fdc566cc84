import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { git } from '../../ops/release/git.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { createRepository, type Repository } from '../support/repository.ts'

const run = promisify(execFile)
const { version } = packageJson
const TAG = `v${version}`
const CLIENT = `flare-watchdog-client-${version}.tgz`
const [, ...START] = packageJson.scripts.release.split(' ')
/** What a release reads. */
const READ = [
  ...['package.json', 'package-lock.json', 'CHANGELOG.md', '.gitignore', 'Dockerfile'],
  ...['src', 'locales', 'examples', 'clients', 'ops/release', 'test/generated'],
]
/** What it runs beside an engine. */
const PROGRAMS = ['git', 'npm', 'sh', 'env']

let repository: Repository
let commit: string
/** The only folder in the path, so that no engine of this machine builds anything. */
let bin: string

beforeAll(async () => {
  repository = await createRepository(READ)
  const { folder } = repository
  commit = await git(folder, ['rev-parse', 'HEAD'])
  bin = join(folder, '.git/bin')
  await mkdir(bin)
  await symlink(process.execPath, join(bin, 'node'))
  for (const name of PROGRAMS) {
    const { stdout } = await run('sh', ['-c', `command -v ${name}`])
    await symlink(stdout.trim(), join(bin, name))
  }
})
afterEach(async () => {
  await git(repository.folder, ['reset', '--quiet', '--hard', commit])
  await git(repository.folder, [
    'clean',
    '--quiet',
    '-d',
    '--force',
    '-x',
    '--exclude=node_modules',
  ])
  await rm(join(bin, 'podman'), { force: true })
})
afterAll(() => rm(repository.folder, { recursive: true, force: true }))

/** Runs the command of `npm run release`; returns its exit code and the lines of both outputs. */
async function release(...flags: readonly string[]) {
  const cwd = repository.folder
  const env = {
    ...process.env,
    PATH: bin,
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  }
  try {
    const { stdout } = await run(process.execPath, [...START, ...flags], { cwd, env })
    return { code: 0, said: stdout.trim().split('\n') }
  } catch (error) {
    const { code, stderr } = Object.assign({ code: undefined, stderr: '' }, error)
    return { code, said: String(stderr).trim().split('\n') }
  }
}

const made = (name: string) => readFile(join(repository.folder, 'release', version, name))

async function edit(path: string, from: string | RegExp, to: string): Promise<void> {
  const file = join(repository.folder, path)
  const text = await readFile(file, 'utf8')
  expect(text).toMatch(from)
  await writeFile(file, text.replace(from, to))
}

test('two runs make the same client, notes and checksums, and no tag', async () => {
  const names = [CLIENT, 'release-notes.md', 'SHA256SUMS']
  expect(await release('--without-image')).toMatchObject({ code: 0 })
  const first = await Promise.all(names.map(made))
  expect(await release('--without-image')).toMatchObject({ code: 0 })
  expect(await Promise.all(names.map(made))).toEqual(first)
  const folder = join(repository.folder, 'release', version)
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder })
  expect(stdout).toBe(`${CLIENT}: OK\nrelease-notes.md: OK\n`)
  expect(String(first[1])).toMatch(/^The first release\.\n\n### Everybody\n/)
  expect(await git(repository.folder, ['tag', '--list'])).toBe('')
})

test('the client is made of the commit: a file that git ignores has no part in it', async () => {
  await release('--without-image')
  const client = await made(CLIENT)
  const dist = join(repository.folder, 'clients/typescript/dist')
  await mkdir(dist, { recursive: true })
  await writeFile(join(dist, 'left.js'), 'left over')
  expect(await release('--without-image')).toMatchObject({ code: 0 })
  expect(await made(CLIENT)).toEqual(client)
})

test('--tag makes an annotated tag with the notes, and the version is not released again', async () => {
  const { folder } = repository
  expect(await release('--without-image', '--tag')).toMatchObject({ code: 0 })
  expect(await git(folder, ['cat-file', '-t', TAG])).toBe('tag')
  expect(await git(folder, ['rev-parse', `${TAG}^{commit}`])).toBe(commit)
  const text = await git(folder, ['tag', '--list', '--format=%(contents)', TAG])
  expect(text.trim()).toBe(String(await made('release-notes.md')).trim())
  expect(await release('--without-image')).toEqual({
    code: 1,
    said: [`the tag ${TAG} exists: this version was released`],
  })
  await git(folder, ['tag', '--delete', TAG])
})

test.each<readonly [name: string, prepare: () => Promise<unknown>, said: readonly string[]]>([
  [
    'a file that is not committed',
    () => writeFile(join(repository.folder, 'new.txt'), ''),
    ['the work tree has changes that are not committed:', '?? new.txt'],
  ],
  [
    'a changelog without the version',
    async () => {
      await edit('CHANGELOG.md', `## ${version}`, '## 7.0.0')
      await repository.commit()
    },
    [`the newest heading of CHANGELOG.md is not "## ${version}" with a text below it`],
  ],
  [
    'a client of another version',
    async () => {
      await edit('clients/typescript/package.json', `"version": "${version}"`, '"version": "7.0.0"')
      await repository.commit()
    },
    [`package.json has version ${version}, clients/typescript/package.json has 7.0.0`],
  ],
  [
    'a client whose sources are newer than the package that the service hands out',
    async () => {
      await edit('clients/typescript/src/errors.ts', /^export/m, '/** A new comment. */\nexport')
      await repository.commit()
    },
    [
      'examples/flare-watchdog-client.tgz is not the client of this commit: run npm run types:api, commit it',
    ],
  ],
])('%s is refused', async (_, prepare, said) => {
  await prepare()
  expect(await release('--without-image', '--tag')).toEqual({ code: 1, said })
  await expect(made(CLIENT)).rejects.toThrow('ENOENT')
  expect(await git(repository.folder, ['tag', '--list'])).toBe('')
})

test('without an engine nothing is made unless that is asked for', async () => {
  const { code, said } = await release('--tag')
  expect(code).toBe(1)
  expect(said).toEqual([
    'no container engine can build the image (docker: not installed; podman: not installed): start one, or release with --without-image',
  ])
  expect(await git(repository.folder, ['tag', '--list'])).toBe('')
})

test('an engine gets the files of the commit, the version and the commit', async () => {
  const script = `#!/bin/sh
case "$1" in
  info) ;;
  build) [ -f "$6/Dockerfile" ] && [ ! -e "$6/node_modules" ] || exit 1
    echo "$2 $3 $4 $5" > '${join(repository.folder, '.git/built')}' ;;
  image) echo sha256:abc ;;
esac
`
  await writeFile(join(bin, 'podman'), script)
  await chmod(join(bin, 'podman'), 0o755)
  expect(await release()).toMatchObject({ code: 0 })
  expect(await readFile(join(repository.folder, '.git/built'), 'utf8')).toBe(
    `--build-arg COMMIT=${commit} --tag flare-watchdog:${version}\n`,
  )
  expect(String(await made('image.txt'))).toBe(`flare-watchdog:${version} sha256:abc\n`)
  expect(String(await made('SHA256SUMS'))).toMatch(/ {2}image\.txt\n/)
})

test('an engine that fails leaves no release', async () => {
  await writeFile(
    join(bin, 'podman'),
    '#!/bin/sh\n[ "$1" = info ] || { echo no space >&2; exit 1; }\n',
  )
  await chmod(join(bin, 'podman'), 0o755)
  const { code, said } = await release('--tag')
  expect([code, said.join('\n')]).toEqual([1, expect.stringContaining('no space')])
  await expect(made('SHA256SUMS')).rejects.toThrow('ENOENT')
  expect(await git(repository.folder, ['tag', '--list'])).toBe('')
})
