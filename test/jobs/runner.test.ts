import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Job } from '#src/jobs/define.ts'
import { runFirst, startJobs } from '#src/jobs/runner.ts'
import { serviceOnly } from '../support/harness.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(() => service.close())

type News = readonly string[] | 'anything'

/** A job that notes what it was woken with, run after run. */
function noting(over: Partial<Job> = {}, onRun: (run: number) => void = () => undefined) {
  const runs: News[] = []
  const job: Job = {
    name: `noting ${Math.floor(performance.now() * 1000)}`,
    role: 'watcher',
    wakeOn: 'runner_test',
    everyMs: () => 60_000,
    run: async (_app, _signal, news) => {
      runs.push(news === undefined ? 'anything' : [...news])
      onRun(runs.length)
    },
    ...over,
  }
  return { job, runs }
}

const notify = (payload: string) => service.sql`select pg_notify('runner_test', ${payload})`

async function withJob(job: Job, work: () => Promise<void>): Promise<void> {
  const running = await startJobs(service.app, service.sql, [job])
  try {
    await work()
  } finally {
    await running.stop()
  }
}

test('a job reads everything first, then what it is notified of', async () => {
  const { job, runs } = noting()
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual(['anything'])
    await notify('one')
    await expect.poll(() => runs).toEqual(['anything', ['one']])
    await notify('two')
    await expect.poll(() => runs).toEqual(['anything', ['one'], ['two']])
  })
})

test('a job that is run first is done then, unless it is in hand already', async () => {
  const { job, runs } = noting()
  await runFirst(service.app, service.sql, job)
  expect(runs).toEqual(['anything'])
  await withJob(job, async () => {
    await expect.poll(() => runs).toHaveLength(2)
    await runFirst(service.app, service.sql, job)
    expect(runs).toHaveLength(2)
  })
})

test('notifications during a run go to the next run, once each', async () => {
  const held = Promise.withResolvers<void>()
  const { job, runs } = noting()
  const slow: Job = {
    ...job,
    run: async (app, signal, news) => {
      await job.run(app, signal, news)
      if (runs.length === 1) await held.promise
    },
  }
  await withJob(slow, async () => {
    await expect.poll(() => runs.length).toBe(1)
    await service.sql.begin(async (sql) => {
      for (const payload of ['one', 'two', 'one']) {
        await sql`select pg_notify('runner_test', ${payload})`
      }
    })
    // Whoever listens has heard it when a later one has been heard.
    const later = noting({ wakeOn: 'runner_test_later' })
    await withJob(later.job, async () => {
      await expect.poll(() => later.runs.length).toBe(1)
      await service.sql`select pg_notify('runner_test_later', 'now')`
      await expect.poll(() => later.runs.length).toBe(2)
    })
    held.resolve()
    await expect.poll(() => runs).toEqual(['anything', ['one', 'two']])
  })
})

test('a job that failed looks at everything soon, however rarely it runs', async () => {
  const { job, runs } = noting({}, (run) => {
    if (run === 2) throw new Error('no luck')
  })
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual(['anything'])
    await notify('one')
    await expect.poll(() => runs, { timeout: 10_000 }).toEqual(['anything', ['one'], 'anything'])
  })
})

test('a job reads everything when a notification has no payload', async () => {
  const { job, runs } = noting()
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual(['anything'])
    await notify('')
    await expect.poll(() => runs).toEqual(['anything', 'anything'])
  })
})

test('a job looks at everything when its time has passed, however often it is woken', async () => {
  const { job, runs } = noting({ everyMs: () => 50 })
  await withJob(job, async () => {
    await expect
      .poll(async () => {
        await notify('one')
        return runs.filter((news) => news === 'anything').length
      })
      .toBeGreaterThan(2)
  })
})
