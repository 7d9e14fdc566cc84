import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { REGISTRY } from '#src/operations/index.ts'
import { openApiDocument } from '#src/operations/openapi/openapi.ts'
import { git, tagOf } from './git.ts'

/** What is released. */
export interface Release {
  readonly version: string
  /** Text below the heading of the version in the changelog. */
  readonly notes: string
  /** 40 hex digits. */
  readonly commit: string
  /** Why it cannot be released, a sentence each; empty if it can. */
  readonly problems: readonly string[]
}

const Versioned = z.object({ version: z.string() })
const Lock = z.object({ version: z.string(), packages: z.record(z.string(), z.looseObject({})) })

/** The folder of the client, as package-lock.json names it. */
export const CLIENT = 'clients/typescript'

/** The checkout that is released: the one that this file belongs to. */
export const ROOT = join(import.meta.dirname, '../..')

/**
 * Reads what this checkout would release, and all that keeps it from being released.
 *
 * @throws Error when a file of the versions is missing or no JSON, or this is no checkout of git
 */
export async function readRelease(): Promise<Release> {
  const read = (path: string) => readFile(join(ROOT, path), 'utf8')
  const parse = async (path: string) => JSON.parse(await read(path))
  const { version } = Versioned.parse(await parse('package.json'))
  const { packages, ...lock } = Lock.parse(await parse('package-lock.json'))
  const others = {
    'package-lock.json': lock.version,
    'the service in package-lock.json': packages['']?.['version'],
    'the client in package-lock.json': packages[CLIENT]?.['version'],
    [`${CLIENT}/package.json`]: Versioned.parse(await parse(`${CLIENT}/package.json`)).version,
    'the OpenAPI document': openApiVersion(),
  }
  const notes = notesOf(await read('CHANGELOG.md'), version)
  const tag = tagOf(version)
  const [changed, commit, tagged] = await Promise.all([
    git(ROOT, ['status', '--porcelain']),
    git(ROOT, ['rev-parse', 'HEAD']),
    git(ROOT, ['tag', '--list', tag]),
  ])
  const problems = [
    ...Object.entries(others)
      .filter(([, other]) => other !== version)
      .map(([name, other]) => `package.json has version ${version}, ${name} has ${other}`),
    ...(notes === ''
      ? [`the newest heading of CHANGELOG.md is not "## ${version}" with a text below it`]
      : []),
    ...(changed === '' ? [] : [`the work tree has changes that are not committed:\n${changed}`]),
    ...(tagged === '' ? [] : [`the tag ${tag} exists: this version was released`]),
  ]
  return { version, notes, commit, problems }
}

function openApiVersion(): string {
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  return z.object({ info: Versioned }).parse(openApiDocument(app, 'en')).info.version
}

/** The text below a version's heading, if that is the newest one; empty if not. */
function notesOf(changelog: string, version: string): string {
  const [, newest = ''] = changelog.split(/^## /m)
  const end = newest.indexOf('\n')
  return end >= 0 && newest.slice(0, end).trim() === version ? newest.slice(end).trim() : ''
}
