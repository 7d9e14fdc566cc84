import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import * as alerts from '#src/alerts/service.ts'
import { createLeases } from '#src/db/leases.ts'
import { createSlices, SLICES } from '#src/db/slices.ts'
import { pruneTargets } from '#src/watches/manage/retention.ts'
import { observeSlices } from '#src/watches/observe/observe.ts'
import { publishTip } from '#src/watches/observe/publish-tip.ts'
import { createTypePauses } from '#src/watches/observe/type-pauses.ts'
import { fireOutages } from '#src/watches/outage/outages.ts'
import { CHAIN_WATCH_TYPES } from '#src/watches/types/index.ts'
import { type ObserveDeps, observeWatches } from '../support/observe.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Isolation of failures: of a watch, a type, a data host, a superseded process. */

const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo']
const SIMULATION = { providers: NAMES.map((name) => ({ name })) }
const FLR = 10n ** 18n
const { signal } = new AbortController()

let closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.toReversed()) await close()
  closing = []
})

let shared: WatchWorld
beforeAll(async () => {
  shared = await watchWorld({ simulation: SIMULATION })
})
afterAll(() => shared.close())

/** The world of the tests that need no other. */
function sharedWorld(): WatchWorld {
  closing.push(shared.renew)
  return shared
}

/** A world of its own. */
async function begin(env: Readonly<Record<string, string>> = {}): Promise<WatchWorld> {
  const world = await watchWorld({ simulation: SIMULATION, env })
  closing.push(world.close)
  return world
}

/** A data host with answers set by a test. */
async function dataHost() {
  let answer = (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(404).end()
  }
  const server = createServer((request, response) => answer(request, response))
  const url = `http://127.0.0.1:${await listenOnLoopback(server, 0)}`
  closing.push(() => {
    server.closeAllConnections()
    return closeServer(server)
  })
  return {
    passesUrl: `${url}/{epoch}/passes.json`,
    rewardsUrl: `${url}/rewards`,
    answers: (next: typeof answer) => {
      answer = next
    },
    publishes: (rows: (epoch: number) => unknown) => {
      answer = (request, response) => {
        const epoch = Number(/\/(\d+)\//.exec(request.url ?? '')?.[1])
        response.end(JSON.stringify(rows(epoch)))
      }
    },
  }
}

const identityIn = (world: WatchWorld) => (name: string) =>
  world.simulation().provider(name).accounts.identity.address

const depsOf = (world: WatchWorld | RoundWorld): ObserveDeps => {
  const app = world.running()
  return { ...app, recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates) }
}

describe('a watch that cannot be read', () => {
  const SPOILS = {
    settings: `update watches set settings = '{"threshold":"x"}' where id = `,
    signals: `update watches set signals = '{"no":"list"}' where id = `,
    state: `update signal_states set state = '{"no":1}' where watch_id = `,
    phase: `update signal_states set phase = 'none' where watch_id = `,
  }

  test('by its settings, signals, state or phase is quarantined alone: other watches and later types are judged', async () => {
    const world = await begin()
    const { carol, bob } = world.devnet.people
    const watch = (address: string) =>
      world.watch('wallet-balance', { address, asset: 'FLR' }, { threshold: '1' })
    const bad: { readonly part: string; readonly spoil: string; readonly id: number }[] = []
    for (const [part, spoil] of Object.entries(SPOILS)) {
      bad.push({ part, spoil, id: (await watch(carol.account.address)).id })
    }
    const neighbour = await watch(carol.account.address)
    const other = await watch(bob.account.address)
    const provider = identityIn(world)('Alpha')
    const later = await world.watch('provider-eligibility', { provider })
    await world.see()
    for (const { spoil, id } of bad) await world.sql.unsafe(`${spoil}${id}`)
    await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
    await world.simulation().behave('Alpha', 'unregistered')
    await world.simulation().playToEpochEnd()
    await world.see()
    for (const { part, id } of bad) expect(await world.events(id), part).toEqual([])
    expect(await world.events(neighbour.id)).not.toEqual([])
    expect(await world.events(other.id)).not.toEqual([])
    expect(await world.events(later.id)).toEqual(['provider.unregistered'])
    expect(world.app.quarantine.read()).toContainEqual({ kind: 'watch', rows: bad.length })
  })

  test('does not stop a target whose last observation cannot be read', async () => {
    const world = sharedWorld()
    const { carol, bob } = world.devnet.people
    const target = { address: carol.account.address, asset: 'FLR' }
    const { id } = await world.watch('wallet-balance', target, { threshold: '1' })
    await world.see()
    await world.sql`update targets set observation = '{"from":"another version"}'`
    await world.see()
    await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
    await world.see()
    expect(await world.events(id)).not.toEqual([])
  })
})

describe('the owner of a watch that cannot be judged', () => {
  const TOLD = ['fsp.monitoring']
  const ENDED = ['fsp.monitoring', 'fsp.monitoring.recovered']
  const eventsOf = async (world: WatchWorld, id: number) =>
    (await world.events(id)).filter((event) => event.startsWith('fsp.monitoring'))
  const reasonOf = async (world: WatchWorld, id: number) =>
    (await world.notified(id)).find(({ event }) => event === 'fsp.monitoring')?.data.reason
  const healthOf = async (world: WatchWorld, id: number) =>
    (await world.alice.request('GET', `/watches/${id}`)).body.health
  const flr = (address: string) => ({ address, asset: 'FLR' })

  /** Passes time in which every block moves the balance. */
  async function passWithTransfers(world: WatchWorld, minutes: number): Promise<void> {
    const { carol, bob } = world.devnet.people
    for (let minute = 0; minute < minutes; minute++) {
      await world.devnet.transfer(carol.account.address, bob.account.address, 2n * FLR)
      await world.pass(60)
    }
  }

  test.each([
    ['settings', `settings = '{"threshold":"x"}'`, `settings = '{"threshold":"1"}'`],
    ['signals', `signals = '{"no":"list"}'`, `signals = '[]'`],
  ])('is told after 90 seconds if its %s cannot be read, and told the end', async (_, spoil, mend) => {
    const world = sharedWorld()
    const target = flr(world.devnet.people.carol.account.address)
    const bad = await world.watch('wallet-balance', target, { threshold: '1' })
    const good = await world.watch('wallet-balance', target, { threshold: '1' })
    await world.see()
    await world.sql.unsafe(`update watches set ${spoil} where id = ${bad.id}`)
    await passWithTransfers(world, 1)
    expect(await eventsOf(world, bad.id)).toEqual([])
    await passWithTransfers(world, 3)
    expect(await eventsOf(world, bad.id)).toEqual(TOLD)
    expect(await reasonOf(world, bad.id)).toBe('watch_unreadable')
    expect(await eventsOf(world, good.id)).toEqual([])
    expect(await healthOf(world, good.id)).toBe('ok')
    await world.sql.unsafe(`update watches set ${mend} where id = ${bad.id}`)
    expect(await healthOf(world, bad.id)).toBe('no_data')
    // The balance does not change any more.
    await world.pass(62)
    expect(await eventsOf(world, bad.id)).toEqual(ENDED)
    expect(await healthOf(world, bad.id)).toBe('ok')
  })

  test('is told if what its target is cannot be read', async () => {
    const world = sharedWorld()
    const { carol, bob } = world.devnet.people
    const bad = await world.watch('wallet-balance', flr(carol.account.address), { threshold: '1' })
    const good = await world.watch('wallet-balance', flr(bob.account.address), { threshold: '100' })
    await world.see()
    const ofBad = world.sql`id = (select target_id from watches where id = ${bad.id})`
    const [row] = await world.sql`select target from targets where ${ofBad}`
    await world.sql`update targets set target = '{"address":"nowhere"}' where ${ofBad}`
    for (let minute = 0; minute < 3; minute++) await world.pass(60)
    expect(await eventsOf(world, bad.id)).toEqual(TOLD)
    expect(await reasonOf(world, bad.id)).toBe('target_unreadable')
    expect(await healthOf(world, bad.id)).toBe('no_data')
    expect(await eventsOf(world, good.id)).toEqual([])
    await world.sql`update targets set target = ${world.sql.json(row?.target)} where ${ofBad}`
    await world.pass(3)
    expect(await eventsOf(world, bad.id)).toEqual(ENDED)
  })

  test('is told if its target cannot be judged as a whole', async () => {
    const world = sharedWorld()
    const { carol } = world.devnet.people
    const bad = await world.watch('wallet-balance', flr(carol.account.address), { threshold: '1' })
    await world.see()
    await world.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end';
      create trigger refuse before update of observation on targets for each row execute function refuse()`)
    await passWithTransfers(world, 4)
    expect(await eventsOf(world, bad.id)).toEqual(TOLD)
    await world.sql`drop function refuse cascade`
    await world.see()
    expect(await eventsOf(world, bad.id)).toEqual(ENDED)
  })

  test('is not told of a watch that is judged again within 90 seconds', async () => {
    const world = sharedWorld()
    const target = flr(world.devnet.people.carol.account.address)
    const { id } = await world.watch('wallet-balance', target, { threshold: '1' })
    await world.see()
    await world.sql`update watches set settings = '{"threshold":"x"}' where id = ${id}`
    await passWithTransfers(world, 1)
    await world.sql`update watches set settings = '{"threshold":"1"}' where id = ${id}`
    for (let minute = 0; minute < 3; minute++) await world.pass(62)
    expect(await eventsOf(world, id)).toEqual([])
    expect(await world.sql`select from signal_states where signal = ''`).toHaveLength(0)
  })
})

describe('a watch type that throws', () => {
  test('fails alone: other types are evaluated, and recipients of its watches are notified after a while', async () => {
    const world = sharedWorld()
    const provider = identityIn(world)('Charlie')
    const broken = await world.watch('provider-eligibility', { provider })
    const later = await world.watch('reward-signing', { provider })
    await world.see()
    const failing = async () => {
      const deps = depsOf(world)
      const facts = {
        ...deps.facts,
        providers: async () => {
          throw new TypeError('a bug')
        },
      }
      await world.devnet.increaseTime(60)
      await world.devnet.mine(2, 1)
      world.clock.advance(62)
      await observeWatches({ ...deps, facts }, signal)
    }
    for (let minute = 0; minute < 4; minute++) await failing()
    expect(await world.events(broken.id)).toEqual(['fsp.monitoring'])
    expect(await world.events(later.id)).toEqual([])
    const cursors = await world.sql`
      select failing_since is null as works from observation_cursors
      where type in ('provider-eligibility', 'reward-signing') order by type`
    expect(cursors.map(({ works }) => works)).toEqual([false, true])
  })
})

describe('a data host', () => {
  const rows = (world: WatchWorld, epoch: number, names: readonly string[], over: object = {}) =>
    names.map((name) => ({
      rewardEpochId: epoch,
      voterAddress: identityIn(world)(name),
      eligibleForReward: true,
      dataProviderName: name,
      ...over,
    }))

  test('that accepts connections and never responds delays no watch', async () => {
    const host = await dataHost()
    const world = await begin({ PROVIDER_DATASET_URL: host.passesUrl })
    const asked = Promise.withResolvers<void>()
    host.answers(() => asked.resolve())
    const watch = await world.watch('provider-eligibility', {
      provider: identityIn(world)('Alpha'),
    })
    await world.devnet.mine(2, 1)
    const block = await world.app.chain.confirmedBlock(1, signal)
    const stop = new AbortController()
    const fetching = world.app.facts.publications.fetch(block, stop.signal)
    await asked.promise
    await observeWatches(depsOf(world), signal)
    await world.simulation().behave('Alpha', 'unregistered')
    await world.simulation().playToEpochEnd()
    await world.see()
    expect(await world.events(watch.id)).toEqual(['provider.unregistered'])
    expect((await world.app.facts.providerNames()).size).toBe(0)
    stop.abort()
    await expect(fetching).rejects.toThrow()
  })

  const PUBLISHED_NAMES = [
    // An emoji at its limit.
    ['Alpha', `${'A'.repeat(39)}\u{1F600}${'B'.repeat(9)}`, `${'A'.repeat(39)}\u{1F600}`],
    ['Bravo', 'Br\0avo\u202e\ud800', 'Bravo'],
    ['Charlie', '\u200b\u2069', undefined],
  ] as const

  test('may publish names with an emoji at the limit, with NUL, direction marks and half characters, and with nothing to see', async () => {
    const host = await dataHost()
    const world = await begin({ PROVIDER_DATASET_URL: host.passesUrl })
    host.publishes((epoch) => [
      ...PUBLISHED_NAMES.flatMap(([provider, dataProviderName]) =>
        rows(world, epoch, [provider], { dataProviderName }),
      ),
      ...rows(world, epoch, NAMES.slice(PUBLISHED_NAMES.length)),
    ])
    await world.simulation().playToEpochEnd()
    await world.see()
    const { id } = await world.watch('provider-eligibility', {
      provider: identityIn(world)('Alpha'),
    })
    await world.see()
    const names = await world.app.facts.providerNames()
    for (const [provider, published, shown] of PUBLISHED_NAMES) {
      expect(names.get(identityIn(world)(provider)), JSON.stringify(published)).toBe(shown)
    }
    expect(await world.events(id)).toEqual([])
    const [{ count } = { count: 0 }] = await world.sql`
      select count(*)::int from publications where kind = 'passes'`
    expect(count).toBe(1)
  })

  test('that publishes half of the providers is not believed until it publishes all', async () => {
    const host = await dataHost()
    const world = await begin({ PROVIDER_DATASET_URL: host.passesUrl })
    const { id } = await world.watch('provider-eligibility', {
      provider: identityIn(world)('Echo'),
    })
    await world.simulation().playToEpochEnd()
    host.publishes((epoch) => rows(world, epoch, NAMES))
    await world.see()
    await world.simulation().playToEpochEnd()
    host.publishes((epoch) => rows(world, epoch, NAMES.slice(0, 3)))
    await world.pass(700)
    expect(await world.events(id)).toEqual([])
    host.publishes((epoch) => [
      ...rows(world, epoch, NAMES.slice(0, 4)),
      ...rows(world, epoch, ['Echo'], { eligibleForReward: false }),
    ])
    await world.pass(3700)
    expect(await world.events(id)).toEqual(['provider.eligibility-lost'])
  })

  test('that publishes one unreadable row causes no alert about that provider', async () => {
    const host = await dataHost()
    const world = await begin({ PROVIDER_DATASET_URL: host.passesUrl })
    const { id } = await world.watch('provider-eligibility', {
      provider: identityIn(world)('Echo'),
    })
    const other = await world.watch('provider-eligibility', {
      provider: identityIn(world)('Alpha'),
    })
    await world.simulation().playToEpochEnd()
    host.publishes((epoch) => rows(world, epoch, NAMES))
    await world.see()
    await world.simulation().playToEpochEnd()
    host.publishes((epoch) => [
      ...rows(world, epoch, ['Alpha'], { eligibleForReward: false }),
      ...rows(world, epoch, NAMES.slice(1, 4)),
      ...rows(world, epoch, ['Echo'], { eligibleForReward: 'maybe' }),
    ])
    await world.pass(700)
    expect(await world.events(id)).toEqual([])
    expect(await world.events(other.id)).toEqual(['provider.eligibility-lost'])
  })

  test('that never publishes the rewards is waited for until two hours after the first vote', async () => {
    const host = await dataHost()
    const world = await begin({ REWARD_DATA_URLS: host.rewardsUrl })
    host.answers((_request, response) => response.writeHead(500).end())
    const { id } = await world.watch('reward-signing', { provider: identityIn(world)('Alpha') })
    for (const name of NAMES.slice(0, 3))
      await world.simulation().behave(name, 'misses-rewards-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await world.simulation().playToPublication()
    const published = async () =>
      (await world.sql`select seen_at from publications where kind = 'rewards'`).length
    for (let half = 0; half < 12 && (await published()) === 0; half++) await world.pass(1800)
    expect(await published()).toBe(1)
    for (let half = 0; half < 6; half++) await world.pass(1800)
    expect(await world.events(id)).toContain('signing.rewards-open')
  })
})

describe('an alert that the cooldown defers', () => {
  test('is fired when the cooldown ends that was imposed after its own, although nothing was observed again', async () => {
    const world = sharedWorld()
    const provider = identityIn(world)('Bravo')
    const { id } = await world.watch(
      'provider-eligibility',
      { provider },
      {},
      { cooldownSeconds: 10_800 },
    )
    await world.see()
    await world.simulation().behave('Bravo', 'unregistered')
    await world.simulation().playToEpochEnd()
    await world.pass(70)
    await world.simulation().behave('Bravo', 'not-eligible')
    await world.simulation().playToPublication()
    const now = world.clock.now()
    const imposed = new Date(now.getTime() + 21_600_000)
    await world.sql`
      update signal_states set last_fired_at = ${now}, cooldown_until = ${imposed} where watch_id = ${id}`
    await world.pass(700)
    for (let look = 0; look < 2; look++) {
      expect(await world.events(id)).toEqual(['provider.unregistered'])
      await world.pass(9000)
    }
    expect(await world.events(id)).toEqual(['provider.unregistered'])
    await world.pass(9000)
    expect(await world.events(id)).toEqual(['provider.unregistered', 'provider.eligibility-lost'])
  })
})

describe('two processes', () => {
  test('evaluate a round once, whichever process was first', async () => {
    const world = await roundWorld([], { unwatched: ['Mute'] })
    closing.push(world.close)
    await world.watch('Mute', [{ id: 'ftso-commit', enabled: true, parameters: { rounds: 3 } }])
    await world.simulation().playRounds(4)
    await world.scan()
    await world.behave('Mute', 'no-commit')
    const streak = async () => {
      const [row] = await world.sql`
        select streak from signal_states
        where watch_id = ${world.watchOf('Mute')} and signal = 'ftso-commit'`
      return row?.['streak']
    }
    while ((await streak()) !== 1) {
      await world.simulation().playRounds(1)
      await world.scan()
    }
    await world.simulation().playRounds(1)
    await world.devnet.mine(2, 1)
    await world.read()
    const deps = depsOf(world)
    let isFirst = true
    const observations: typeof deps.facts.rounds.observations = async (...asked) => {
      const seen = await deps.facts.rounds.observations(...asked)
      // The other process judges the same observation before this one.
      if (isFirst) {
        isFirst = false
        await observeWatches(deps, signal)
      }
      return seen
    }
    const facts = { ...deps.facts, rounds: { ...deps.facts.rounds, observations } }
    await observeWatches({ ...deps, facts }, signal)
    expect(await streak()).toBe(2)
  })

  test('never set progress back: a process that lost the lock begins a new session', async () => {
    const world = await roundWorld(['Alpha'])
    closing.push(world.close)
    const progress = async () => {
      const [row] = await world.sql`select block_number from fsp_progress`
      return Number(row?.['block_number'])
    }
    await world.simulation().playRounds(4)
    await world.scan()
    const first = world.app
    world.restart()
    await world.simulation().playRounds(5)
    await world.scan()
    const reached = await progress()
    await world.simulation().playRounds(2)
    await world.devnet.mine(2, 1)
    const tip = await first.chain.confirmedBlock(first.confirmations, signal)
    const { span } = first.chain.rounds
    const from: number[] = []
    Object.assign(first.chain.rounds, {
      span: (...asked: Parameters<typeof span>) => {
        from.push(asked[0].from)
        return span(...asked)
      },
    })
    await first.facts.rounds.advance(tip, signal)
    expect(await progress()).toBeGreaterThan(reached)
    const [row] = await world.sql`select min(block_number) as first from fsp_rounds`
    expect(from[0]).toBeGreaterThan(Number(row?.['first']))
  })

  test('write only for slices that they hold: writes for a lost slice are refused', async () => {
    const world = sharedWorld()
    const { carol, bob } = world.devnet.people
    const target = { address: carol.account.address, asset: 'FLR' }
    const { id } = await world.watch('wallet-balance', target, { threshold: '1' })
    await world.see()
    await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
    await world.devnet.mine(2, 1)
    const deps = depsOf(world)
    await publishTip(deps, signal)
    const passDeps = { ...deps, typePauses: createTypePauses() }
    const newSlices = () => {
      const leases = createLeases(world.sql, { isRenewing: false })
      return createSlices({ db: world.app.db, leases, name: 'targets', wakes: [] })
    }
    const [former, next] = [newSlices(), newSlices()]
    await former.share()
    await world.sql`update members set expires_at = expires_at - interval '1 hour'`
    await next.share()
    expect(former.held()).toHaveLength(SLICES)
    await observeSlices({ ...passDeps, slices: former }, signal)
    expect(await world.events(id)).toEqual([])
    await observeSlices({ ...passDeps, slices: next }, signal)
    expect(await world.events(id)).not.toEqual([])
  })

  test('store prices and votes, and fire outage alerts, only while holding the lease', async () => {
    const world = await begin()
    await world.watch('feed-move', { feed: 'XRP/USD' }, { percent: 5, windowSeconds: 600 })
    const provider = identityIn(world)('Alpha')
    const voting = await world.watch('reward-signing', { provider })
    await world.see()
    await world.simulation().playToEpochEnd()
    await world.simulation().playTo(1_658_430_000 + 90 * 3360 * 453 + 3600)
    await world.devnet.mine(2, 1)
    const tip = await world.app.chain.confirmedBlock(world.app.confirmations, signal)
    // A renewal during the reads would end the lease before the write that is to be refused.
    const leases = createLeases(world.sql, { isRenewing: false })
    // A refusal ends the lease, so that each write has one of its own.
    let count = 0
    const old = async () => {
      count += 1
      const lease = await leases.tryTake(`watcher ${count}`)
      await world.sql`update leases set number = number + 1 where item = ${`watcher ${count}`}`
      return lease?.fence
    }
    const { facts } = world.app
    const outdated = expect.objectContaining({ name: 'FenceError' })
    const points = () => world.sql`select from feed_points`
    const ranges = () => world.sql`select from read_ranges`
    const before = [(await points()).length, (await ranges()).length]
    const windows = [{ feed: 'XRP/USD', windowSeconds: 600 }]
    await expect(facts.feedWindows(windows, tip, signal, await old())).rejects.toEqual(outdated)
    await expect(facts.votes([provider], tip, signal, await old())).rejects.toEqual(outdated)
    expect([(await points()).length, (await ranges()).length]).toEqual(before)
    const now = world.clock.now()
    const since = new Date(now.getTime() - 600_000)
    await world.sql`
      update observation_cursors set observed_at = ${since}, failing_since = ${since}, checked_at = ${now}
      where type <> 'chain'`
    const deps = { ...depsOf(world), fence: await old() }
    await expect(fireOutages(deps, CHAIN_WATCH_TYPES)).rejects.toEqual(outdated)
    expect(await world.events(voting.id)).not.toContain('fsp.monitoring')
    await fireOutages(depsOf(world), CHAIN_WATCH_TYPES)
    expect(await world.events(voting.id)).toContain('fsp.monitoring')
  })
})

test('targets without watches are deleted, the others stay', async () => {
  const world = sharedWorld()
  const { carol, bob } = world.devnet.people
  const watch = (address: string) =>
    world.watch('wallet-balance', { address, asset: 'FLR' }, { threshold: '1' })
  const gone = await watch(carol.account.address)
  await watch(bob.account.address)
  await world.see()
  await world.alice.request('DELETE', `/watches/${gone.id}`)
  await pruneTargets(world.app)
  const rows = await world.sql`select target ->> 'address' as address from targets`
  expect(rows.map(({ address }) => address)).toEqual([bob.account.address])
})
