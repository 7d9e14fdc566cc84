import { expect, test } from 'vitest'
import type { ScenarioProgress } from '#sandbox/scenarios/define.ts'
import { createScenarioLog } from '#sandbox/scenarios/log.ts'
import { skipAndReport } from '#sandbox/scenarios/time.ts'

const START = Date.parse('2026-11-27T09:00:00Z')
const DAY_SECONDS = 86_400

test('a skip shows how far it is and which date that is, while it runs', async () => {
  let now = new Date(START)
  const shown: ScenarioProgress[] = []
  const next = () =>
    new Promise<void>((resolve) => {
      const count = shown.length
      const look = setInterval(() => {
        if (shown.length === count) return
        clearInterval(look)
        resolve()
      }, 10)
    })
  await skipAndReport(
    {
      clock: { now: () => now },
      skip: async (choose) => {
        const ms = choose(now) * 1000
        now = new Date(START + ms / 4)
        await next()
        now = new Date(START + ms)
      },
    } as Parameters<typeof skipAndReport>[0],
    () => 100 * DAY_SECONDS,
    (progress) => shown.push(progress),
  )
  expect(shown).toEqual([
    { share: 0, text: '0 %: 09:00:00 on 2026-11-27' },
    { share: 0.25, text: '25 %: 09:00:00 on 2026-12-22' },
  ])
})

test('the log has the progress of an entry only while it is going', () => {
  const log = createScenarioLog(() => new Date(START))
  const entry = log.open('time-1d', '+1 d', false)
  entry.advance({ share: 0.5, text: '50 %' })
  expect(log.entries[0]).toMatchObject({ state: 'going', progress: { share: 0.5 } })
  entry.note('it is late')
  entry.close()
  expect(log.entries[0]).toMatchObject({ state: 'over', notes: ['it is late'] })
  expect(log.entries[0]?.progress).toBeUndefined()
})
