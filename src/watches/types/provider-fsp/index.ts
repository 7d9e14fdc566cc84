import { announceWatchType } from '../../define.ts'
import { fastUpdates } from './fast-updates.ts'
import { fdcBitvote, fdcBitvoteLength, fdcConsensus, fdcSignature, fdcSubmit1 } from './fdc.ts'
import { ftsoCommit, ftsoReveal, ftsoSignature } from './ftso.ts'
import { fdcRevealOffence, revealOffence, signatureGrace, signatureMismatch } from './offences.ts'
import {
  mcAnchor,
  mcFdc,
  mcUptime,
  notInPolicy,
  registration,
  validatorNotListed,
} from './registration.ts'
import { balanceLow, rewardsUnclaimed, txFailed } from './transactions.ts'

/**
 * Watches a data provider in every voting round and reward epoch. First the signals of the published
 * table, then those that are off by default.
 *
 * @see product decisions, 8
 */
export const providerFsp = announceWatchType({
  name: 'provider-fsp',
  signals: [
    ftsoCommit,
    ftsoReveal,
    ftsoSignature,
    fdcBitvote,
    fdcSignature,
    fdcSubmit1,
    revealOffence,
    signatureMismatch,
    signatureGrace,
    txFailed,
    fastUpdates,
    registration,
    notInPolicy,
    fdcBitvoteLength,
    fdcConsensus,
    fdcRevealOffence,
    mcAnchor,
    mcFdc,
    mcUptime,
    validatorNotListed,
    balanceLow,
    rewardsUnclaimed,
  ],
})
