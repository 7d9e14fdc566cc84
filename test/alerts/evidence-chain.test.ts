import { expect, test } from 'vitest'
import { createEvidenceChain } from '#src/alerts/evidence/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { AppError } from '#src/kernel/errors.ts'

/** Evidence of a membership: it needs the last block and no other. */
const ASKED = {
  position: 7,
  claim: {
    kind: 'membership',
    provider: `0x${'11'.repeat(20)}`,
    rewardEpoch: 1,
    voters: null,
    startRound: null,
  },
  data: {},
} as const

function reader(blockAt: FspChain['blockAt']) {
  let now = 0
  const endpoints = { ask: async () => [] }
  const chain = { blockAt, access: { endpoints } } as unknown as FspChain
  const clock = { now: () => new Date(now) }
  const evidence = createEvidenceChain({ chain, clock })
  return { evidence, pass: (ms: number) => (now += ms) }
}

const block = { number: 7, hash: `0x${'22'.repeat(32)}`, at: new Date(0) } as const

test('the chain is read once for the evidence of an alert, however often the evidence is requested', async () => {
  let asked = 0
  const { evidence, pass } = reader(async () => {
    asked += 1
    return block
  })
  const readings = Array.from({ length: 20 }, () => evidence.read({ ...ASKED, id: 1 }))
  expect(new Set(await Promise.all(readings)).size).toBe(1)
  expect(asked).toBe(1)
  await evidence.read({ ...ASKED, id: 2 })
  expect(asked).toBe(2)
  pass(11 * 60_000)
  await evidence.read({ ...ASKED, id: 1 })
  expect(asked).toBe(3)
})

test('a block that no endpoint has yet is requested again soon, and so is one after a failure', async () => {
  const answers = [undefined, new AppError('upstream', 'dependency_unavailable'), block]
  const { evidence, pass } = reader(async () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  })
  expect(await evidence.read({ ...ASKED, id: 1 })).toMatchObject({ blocks: null })
  pass(6000)
  await expect(evidence.read({ ...ASKED, id: 1 })).rejects.toThrow(AppError)
  expect(await evidence.read({ ...ASKED, id: 1 })).toMatchObject({ blocks: { last: block } })
})

test('a few evidences are read at the same time, and requests beyond the limit are refused', async () => {
  const gate = Promise.withResolvers<typeof block>()
  let [running, most] = [0, 0]
  const { evidence } = reader(async () => {
    running += 1
    most = Math.max(most, running)
    await gate.promise
    running -= 1
    return block
  })
  const readings = Array.from({ length: 50 }, (_, id) => evidence.read({ ...ASKED, id }))
  const settled = Promise.allSettled(readings)
  await expect(readings[49]).rejects.toThrow(AppError)
  gate.resolve(block)
  const refused = (await settled).filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(6)
  expect(most).toBe(4)
})
