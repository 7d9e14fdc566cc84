import { expect, test } from 'vitest'
import { createTimeTravel } from './time-travel.ts'

test('a journey ends with an error when what is due makes no block, instead of never', async () => {
  const head = { number: 7, timestamp: 1_795_000_000 }
  const timeTravel = createTimeTravel({
    writer: { head },
    epochDaemon: { nextDue: (now: number) => now, tick: async () => undefined },
  } as never)
  await expect(timeTravel.skipTo(head.timestamp + 60)).rejects.toThrow(
    'nothing happened that was due',
  )
})
