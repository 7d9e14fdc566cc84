import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './service-process.ts'

/** What a process of the service reads, as in the image. */
export const SERVICE_FILES = ['package.json', 'src', 'bot', 'locales', 'migrations', 'examples']
const JOURNAL = 'migrations/meta/_journal.json'
/** Changes tables that the load of `ops/rehearsal/load.ts` uses. */
const MIGRATION = `alter table "watches" add column "added" text;--> statement-breakpoint
alter table "delivery_queue" add column "added" integer default 1;--> statement-breakpoint
create table "added" ("watch_id" bigint references "watches");`

/** Writes a next release into an empty folder: a copy of these sources with one more migration. */
export async function writeNextRelease(to: string): Promise<void> {
  for (const path of SERVICE_FILES) await cp(join(ROOT, path), join(to, path), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'))
  const path = join(to, JOURNAL)
  const journal: { entries: { idx: number; when: number }[] } = JSON.parse(
    await readFile(path, 'utf8'),
  )
  const last = journal.entries.at(-1)
  if (last === undefined) throw new Error('there are no migrations')
  const added = { ...last, idx: last.idx + 1, when: last.when + 1, tag: 'next-release' }
  await writeFile(path, JSON.stringify({ ...journal, entries: [...journal.entries, added] }))
  await writeFile(join(to, 'migrations/next-release.sql'), MIGRATION)
}
