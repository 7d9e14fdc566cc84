import { createHash } from 'node:crypto'
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { packClient } from '../../test/generated/client-package.ts'
import { git, tagOf, writeTree } from './git.ts'
import { buildImage, type Engine, findEngine } from './image.ts'
import { CLIENT, type Release, ROOT, readRelease } from './problems.ts'

/**
 * Makes a release of this checkout: the image, the client, the notes and their checksums, in `release/<version>`. All of it
 * comes from the commit; what git does not know has no part in it. The client has the same bytes at each run. With
 * `--tag` the commit then gets its annotated tag. Refuses, with one line for each reason, before it makes anything.
 */

const FLAGS = { tag: '--tag', withoutImage: '--without-image' } as const
/** The package that the service hands out. */
const HANDED_OUT = 'examples/flare-watchdog-client.tgz'

const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => !Object.values<string>(FLAGS).includes(flag))
if (unknown.length > 0) {
  refuse([`unknown: ${unknown.join(' ')}. There are: ${Object.values(FLAGS).join(' ')}`])
} else {
  const release = await readRelease()
  const { engine, problem } = await chooseEngine(flags.includes(FLAGS.withoutImage))
  const problems = [...release.problems, ...problem]
  if (problems.length > 0) refuse(problems)
  else await make(release, engine)
}

function refuse(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The engine that builds the image; undefined if the release is to have none. */
async function chooseEngine(isWithout: boolean) {
  if (isWithout) return { engine: undefined, problem: [] }
  const { engine, reasons } = await findEngine()
  const missing = `no container engine can build the image (${reasons.join('; ')}): start one, or release with ${FLAGS.withoutImage}`
  return { engine, problem: engine === undefined ? [missing] : [] }
}

async function make(release: Release, engine: Engine | undefined): Promise<void> {
  const { version, commit, notes } = release
  const draft = await mkdtemp(join(tmpdir(), 'watchdog-release-'))
  try {
    const tree = join(draft, 'tree')
    await writeTree(ROOT, commit, tree)
    await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
    if (!(await isHandedOut(tree, draft))) {
      refuse([`${HANDED_OUT} is not the client of this commit: run npm run types:api, commit it`])
      return
    }
    const out = join(draft, 'out')
    await mkdir(out)
    await copyFile(join(tree, HANDED_OUT), join(out, `flare-watchdog-client-${version}.tgz`))
    await writeFile(join(out, 'release-notes.md'), `${notes}\n`)
    if (engine === undefined) {
      say('no image: it was left out, as asked')
    } else {
      // The image installs its own packages.
      await rm(join(tree, 'node_modules'))
      const { name, id } = await buildImage(engine, tree, release)
      await writeFile(join(out, 'image.txt'), `${name} ${id}\n`)
      say(`image ${name} is in ${engine}: ${id}`)
    }
    await writeChecksums(out)
    await keep(out, join(ROOT, 'release', version))
    if (flags.includes(FLAGS.tag)) await tag(release, join(out, 'release-notes.md'))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Whether the package that the service hands out is the one that the sources of the same commit make. */
async function isHandedOut(tree: string, draft: string): Promise<boolean> {
  const packed = await packClient(draft, join(tree, CLIENT))
  // The compressed bytes depend on the version of npm.
  const [made, kept] = await Promise.all([readFile(packed), readFile(join(tree, HANDED_OUT))])
  return gunzipSync(made).equals(gunzipSync(kept))
}

/** Writes checksums of a folder's files, as `sha256sum --check` reads them. */
async function writeChecksums(folder: string): Promise<void> {
  const names = (await readdir(folder)).toSorted()
  const lines = names.map(async (name) => {
    const digest = createHash('sha256').update(await readFile(join(folder, name)))
    return `${digest.digest('hex')}  ${name}\n`
  })
  await writeFile(join(folder, 'SHA256SUMS'), (await Promise.all(lines)).join(''))
}

/** Puts the files of a release in the place of an earlier run's. */
async function keep(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    await copyFile(join(from, name), join(to, name))
    say(relative(ROOT, join(to, name)))
  }
}

async function tag({ version, commit }: Release, notes: string): Promise<void> {
  const name = tagOf(version)
  // Git would take the headings of the notes for comments.
  await git(ROOT, ['tag', '--annotate', '--cleanup=verbatim', '--file', notes, name, commit])
  say(`tag ${name} is made here: git push origin ${name} publishes it`)
}
