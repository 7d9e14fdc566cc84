import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** @throws Error that names the programs which are not in the path */
export function needPrograms(...names: readonly string[]): void {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const missing = names.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
  if (missing.length > 0) throw new Error(`these tests need ${missing.join(', ')}`)
}
