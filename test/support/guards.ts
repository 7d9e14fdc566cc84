/**
 * The guards of every test with PostgreSQL. vitest runs this file anew for each test file in a worker, so that
 * state and subscriptions are in the modules of the guards, which are loaded once.
 */
import { afterEach } from 'vitest'
import { forgetViolations } from './transaction-guard.ts'
import { forgetUnnamed } from './wallet-guard.ts'

// What the end of the last file left is no matter of this one.
forgetViolations()
forgetUnnamed()

afterEach(() => {
  const [first] = [...forgetViolations(), ...forgetUnnamed()]
  if (first !== undefined) throw first
})
