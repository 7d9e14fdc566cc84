import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EndpointsFailed } from '#src/chain/endpoints/failures.ts'
import type { Job } from '#src/jobs/define.ts'
import { runOnceBeforeStart, startJobs } from '#src/jobs/runner.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { serviceOnly } from '../support/harness.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(() => service.close())

/** Payloads of a run, sorted; with 'all' where it looks at everything. */
type Run = readonly string[]

/** A job that records what each run is given. */
function recording(over: Partial<Job> = {}, onRun: (run: number) => void = () => undefined) {
  const runs: Run[] = []
  const job: Job = {
    name: `recording ${Math.floor(performance.now() * 1000)}`,
    role: 'watcher',
    wakeOn: 'runner_test',
    everyMs: () => 60_000,
    run: async (_app, _signal, { payloads, mayHaveMissed }) => {
      runs.push([...(mayHaveMissed ? ['all'] : []), ...payloads])
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

test('a job that charges or deletes does not run while the clocks of host and database differ', async () => {
  const { job, runs } = recording({ needsAgreedClocks: true, everyMs: () => 20 })
  let aheadMs = -400_000
  const errors: string[] = []
  const log = { ...service.app.log, error: (_: object, message: string) => errors.push(message) }
  const app = { ...service.app, log, hostAheadMs: async () => aheadMs }
  const running = await startJobs(app, service.sql, [job])
  await expect.poll(() => errors.length).toBeGreaterThan(2)
  expect(new Set(errors)).toEqual(new Set(['clock of this host differs from that of the database']))
  expect(runs).toEqual([])
  aheadMs = 200_000
  await expect.poll(() => runs.length).toBeGreaterThan(0)
  await running.stop()
  await runOnceBeforeStart({ ...app, hostAheadMs: async () => 400_000 }, { ...job, name: 'once' })
  expect(errors.length).toBeGreaterThan(3)
})

test('the first run of a job is a full scan, later ones get the payloads of notifications', async () => {
  const { job, runs } = recording()
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual([['all']])
    await notify('one')
    await expect.poll(() => runs).toEqual([['all'], ['one']])
    await notify('two')
    await expect.poll(() => runs).toEqual([['all'], ['one'], ['two']])
  })
})

test('a job that is run on request runs at once, unless it is running already', async () => {
  const { job, runs } = recording()
  await runOnceBeforeStart(service.app, job)
  expect(runs).toEqual([['all']])
  await withJob(job, async () => {
    await expect.poll(() => runs).toHaveLength(2)
    await runOnceBeforeStart(service.app, job)
    expect(runs).toHaveLength(2)
  })
})

test('notifications during a run go to the next run, once each', async () => {
  const held = Promise.withResolvers<void>()
  const { job, runs } = recording()
  const slow: Job = {
    ...job,
    run: async (app, signal, notified) => {
      await job.run(app, signal, notified)
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
    // Notifications arrive in order: when a later one has arrived, this one has too.
    const later = recording({ wakeOn: 'runner_test_later' })
    await withJob(later.job, async () => {
      await expect.poll(() => later.runs.length).toBe(1)
      await service.sql`select pg_notify('runner_test_later', 'now')`
      await expect.poll(() => later.runs.length).toBe(2)
    })
    held.resolve()
    await expect.poll(() => runs).toEqual([['all'], ['one', 'two']])
  })
})

test('notifications within the gap of a job share its next run', async () => {
  const { job, runs } = recording({ gapMs: 1500 })
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual([['all']])
    for (const payload of ['one', 'two', 'three']) await notify(payload)
    await expect.poll(() => runs, { timeout: 10_000 }).toEqual([['all'], ['one', 'two', 'three']])
  })
})

test('a job that failed runs again soon, with the payloads of the failed run and later ones', async () => {
  const { job, runs } = recording({}, (run) => {
    if (run === 2) throw new Error('no luck')
  })
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual([['all']])
    await notify('one')
    await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(3)
    await notify('two')
    await expect.poll(() => runs).toEqual([['all'], ['one'], ['all', 'one'], ['two']])
  })
})

test('endpoints that fail are logged once, by themselves, and not by each job that needs them', async () => {
  const failing = async () => {
    throw new AppError('upstream', 'dependency_unavailable', {}, { cause: thrown })
  }
  let thrown: Error = new EndpointsFailed('endpoint 0: connection failed: ENOTFOUND', true)
  const lines: string[] = []
  const write = (_fields: object, message: string) => void lines.push(message)
  const app = { ...service.app, log: { ...silentLogger, warn: write, info: write } }
  let runs = 0
  const { job } = recording({ pauseMsMax: 1 })
  const running = await startJobs(app, service.sql, [
    {
      ...job,
      run: async () => {
        runs += 1
        if (runs === 3) thrown = new EndpointsFailed('no endpoint of this chain', false)
        if (runs < 6) await failing()
      },
    },
  ])
  await expect.poll(() => lines, { timeout: 20_000 }).toHaveLength(2)
  await running.stop()
  expect(lines).toEqual([
    'job failed: a dependency is unavailable; the next run tries again',
    'job works again',
  ])
})

test('failures that stay are logged once and then once a minute, also those that take turns', async () => {
  const lines: string[] = []
  const write = ({ error }: { error?: string }, message: string) =>
    void lines.push(`${message}: ${error?.split('\n')[0]}`)
  const app = { ...service.app, log: { ...silentLogger, error: write, info: write } }
  // The time stands still but for one minute, because a machine that pauses would make the real time pass. The job needs no
  // lease, which would end in this minute.
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  let runs = 0
  const { job } = recording({ pauseMsMax: 1, everywhere: true })
  const run: Job['run'] = async () => {
    runs += 1
    if (runs === 40) now += MINUTE_MS
    if (runs <= 60) throw new Error(runs % 2 === 0 ? 'connect ECONNREFUSED' : 'disk full')
  }
  const running = await startJobs(app, service.sql, [{ ...job, run }])
  await expect.poll(() => runs, { timeout: 20_000 }).toBeGreaterThan(60)
  await running.stop()
  clock.mockRestore()
  expect(lines).toEqual([
    'job failed: Error: disk full',
    'job failed: Error: connect ECONNREFUSED',
    'job failed: Error: connect ECONNREFUSED',
    'job failed: Error: disk full',
    'job works again: undefined',
  ])
})

test('a request for full scans causes one full scan in every job, also in a job that is running', async () => {
  const held = Promise.withResolvers<void>()
  const [quick, slow] = [
    recording({ wakeOn: 'runner_test_quick' }),
    recording({ wakeOn: 'runner_test_slow', everywhere: true }),
  ]
  const run: Job['run'] = async (...args) => {
    await slow.job.run(...args)
    if (slow.runs.length === 1) await held.promise
  }
  const jobs = await startJobs(service.app, service.sql, [quick.job, { ...slow.job, run }])
  try {
    await expect.poll(() => [quick.runs, slow.runs]).toEqual([[['all']], [['all']]])
    for (let times = 0; times < 3; times += 1) jobs.runAll()
    await expect.poll(() => quick.runs).toEqual([['all'], ['all']])
    held.resolve()
    await expect.poll(() => slow.runs).toEqual([['all'], ['all']])
  } finally {
    held.resolve()
    await jobs.stop()
  }
})

test('a notification without payload causes a full scan', async () => {
  const { job, runs } = recording()
  await withJob(job, async () => {
    await expect.poll(() => runs).toEqual([['all']])
    await notify('')
    await expect.poll(() => runs).toEqual([['all'], ['all']])
  })
})

test('no payload is lost when the interval has passed as well', async () => {
  const { job, runs } = recording({ everyMs: () => 5 })
  await withJob(job, async () => {
    for (let at = 0; at < 100; at += 1) await notify(String(at))
    const heard = () => runs.flat().filter((payload) => payload !== 'all')
    await expect.poll(heard).toEqual(Array.from({ length: 100 }, (_, at) => String(at)))
    await expect.poll(() => runs.filter(([first]) => first === 'all').length).toBeGreaterThan(2)
  })
})

test('a flood of payloads during failures stays bounded', async () => {
  const failed = Promise.withResolvers<void>()
  const { job, runs } = recording({}, (run) => {
    if (run === 2) failed.resolve()
    if (run <= 2) throw new Error('no luck')
  })
  await withJob(job, async () => {
    await service.sql`select pg_notify('runner_test', 'a' || n) from generate_series(1, 4000) n`
    await failed.promise
    await service.sql`select pg_notify('runner_test', 'b' || n) from generate_series(1, 4000) n`
    await expect.poll(() => runs.length, { timeout: 10_000 }).toBeGreaterThan(2)
    expect(Math.max(...runs.map((args) => args.length))).toBeLessThanOrEqual(5001)
    expect(runs[2]?.[0]).toBe('all')
  })
})

test('a job is told of notifications that arrive while it runs', async () => {
  const heard: string[] = []
  const held = Promise.withResolvers<void>()
  const { job, runs } = recording({ onNotify: (_app, payload) => heard.push(payload) })
  const holding: Job = {
    ...job,
    run: async (...args) => {
      await job.run(...args)
      await held.promise
    },
  }
  await withJob(holding, async () => {
    await expect.poll(() => runs).toEqual([['all']])
    await notify('meanwhile')
    await expect.poll(() => heard).toEqual(['meanwhile'])
    expect(runs).toEqual([['all']])
    held.resolve()
    await expect.poll(() => runs).toEqual([['all'], ['meanwhile']])
  })
})
