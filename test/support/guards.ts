/**
 * The guards of every test with PostgreSQL. vitest runs this file once for each test file. The modules of the
 * guards are loaded once per worker; they have the state and the subscriptions.
 */
import { afterEach, beforeEach } from 'vitest'
import { writeChainNames } from '#src/i18n/translate.ts'
import { serveChain } from '#src/kernel/chains.ts'
import { forgetKeyJoins } from './pruning-guard.ts'
import { forgetViolations } from './transaction-guard.ts'
import { forgetUnnamed } from './wallet-guard.ts'

// An earlier file of this worker may have served another chain.
writeChainNames(serveChain(14))

let isFirst = true
beforeEach(() => {
  // Earlier violations belong to no test: the last file's end caused them, or this file's set-up, such as migrations.
  if (isFirst) {
    forgetViolations()
    forgetUnnamed()
    forgetKeyJoins()
  }
  isFirst = false
})

afterEach(() => {
  const [first] = [...forgetViolations(), ...forgetUnnamed(), ...forgetKeyJoins()]
  if (first !== undefined) throw first
})
