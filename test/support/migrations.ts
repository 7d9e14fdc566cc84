import { join } from 'node:path'

/** The folder of all migrations. */
export const MIGRATIONS = join(import.meta.dirname, '../../migrations')
