import { expect, test } from 'vitest'
import type { Db } from '#src/db/connection.ts'
import { everySlice } from '#src/db/slices.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import type { ChainWatchType } from '../define.ts'
import type { TargetRow } from '../target-store.ts'
import { providerFsp } from '../types/provider-fsp/index.ts'
import { dueByChain } from './judge-chain.ts'
import { type DueTarget, judgeGroup } from './judge-group.ts'

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
/** Watches of the first target, no two of which start from the same. */
const WATCHES = 400
const ROUNDS = 20
const quarantine = createQuarantine({ log: silentLogger })

/** The observation of a round of which nothing is known. */
function observation(index: number) {
  const round = 1_519_400 + index
  const startsAt = 1_658_430_000 + round * 90
  const unknown = { checks: null, anchors: null, policy: null, registration: null }
  const other = {
    fastUpdates: null,
    transactions: [],
    balances: null,
    nodes: null,
    rewards: null,
    earnings: null,
  }
  return {
    position: 41_880_000 + index * 60,
    at: new Date((startsAt + 180) * 1000),
    provider: PROVIDER,
    ...{ round, startsAt, rewardEpoch: 452, addresses: null, ...unknown, ...other },
  }
}

function dueTarget(id: number, watchCount: number): DueTarget {
  const stored = {
    target: {},
    keySettings: null,
    observation: null,
    summary: null,
    recheckAt: null,
  }
  const row: TargetRow = {
    ...{ id, slice: 0, key: `${id}`, mustJudge: false, noDataSince: null, watchCount, ...stored },
  }
  const target = { provider: PROVIDER }
  const due = dueByChain({ quarantine }, providerFsp as unknown as ChainWatchType, {
    row,
    request: { target, keySettings: undefined, isNew: true, last: null },
    observations: Array.from({ length: ROUNDS }, (_, index) => observation(index)),
  })
  if (due === undefined) throw new Error('nothing was observed')
  return due
}

/** A transaction that has these targets and watches, and answers within a turn. */
function transactionOf(due: readonly DueTarget[], watches: readonly object[]): Db {
  const rows = due.map(({ row }) => row)
  const select = { from: () => select, where: () => select, orderBy: () => select, for: () => rows }
  const answers = [watches]
  const tx = { select: () => select, execute: async () => answers.shift() ?? [] }
  return { transaction: (work: (tx: Db) => unknown) => work(tx as unknown as Db) } as unknown as Db
}

test('many watches of one target let others work', async () => {
  const due = [dueTarget(1, WATCHES), dueTarget(2, 1)]
  const watches = Array.from({ length: WATCHES + 1 }, (_, index) => ({
    ...{ id: index + 1, targetId: index < WATCHES ? 1 : 2, wallet: PROVIDER, label: 'Alpha' },
    ...{ settings: {}, signals: [], recipientIds: null, minSeverity: 'info', mutedUntil: null },
    cooldownSeconds: 600 + index,
  }))
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const deps = {
    ...{ db: transactionOf(due, watches), clock: systemClock, quarantine, slices: everySlice() },
    recordAlerts: async () => undefined,
  }
  const judgedIds = await judgeGroup(deps, due)
  isOver = true
  expect(judgedIds).toEqual(new Set([1, 2]))
  expect(quarantine.read()).toEqual([])
  expect(turns).toBeGreaterThan(10)
})
