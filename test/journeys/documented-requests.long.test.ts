import { documentedTests } from './documented-world.ts'

/** The examples of the docs in TypeScript, run as they stand; those in other languages are in `test/tools`. */

documentedTests('ts')
