import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import { renderMessage } from '#src/alerts/messages/render.ts'
import { providerFsp } from '#src/watches/types/provider-fsp/index.ts'
import { signIn } from '../support/people.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Data providers with one fault each, beside a faultless one, on a real chain. */

const EVERY_SIGNAL = providerFsp.signals.map(({ id }) => ({ id, enabled: true }))

/** Fires on a short silence, because the test chain has few blocks. */
const SENSITIVE = EVERY_SIGNAL.map((signal) =>
  signal.id === 'fast-updates' ? { ...signal, parameters: { probability: 0.1 } } : signal,
)

/** Providers with their fault and the expected alerts: event and severity. */
const CASES: readonly (readonly [string, Behaviour, readonly string[]])[] = [
  ['Healthy', 'former-digest', []],
  ['Mute', 'no-commit', ['fsp.ftso-commit warning']],
  // The bit vote is in the reveal transaction, so neither counts.
  ['Shy', 'no-reveal', ['fsp.ftso-reveal critical', 'fsp.fdc-bitvote warning']],
  ['Tardy', 'late-commit', ['fsp.ftso-commit warning']],
  [
    'Unsigned',
    'no-signature',
    ['fsp.ftso-signature warning', 'fsp.fdc-signature warning', 'fsp.fdc-reveal-offence critical'],
  ],
  ['Voteless', 'no-bit-vote', ['fsp.fdc-bitvote warning']],
  ['Fickle', 'no-fdc-signature', ['fsp.fdc-signature warning', 'fsp.fdc-reveal-offence critical']],
  // The bit vote is in the reveal transaction, so neither counts.
  [
    'Astray',
    'former-submission',
    [
      'fsp.ftso-commit warning',
      'fsp.ftso-reveal warning',
      'fsp.ftso-signature warning',
      'fsp.fdc-bitvote warning',
      'fsp.fdc-signature warning',
    ],
  ],
  // Without half of the prices the minimal condition may be missed, too, but not in a few rounds.
  ['Sparse', 'few-values', ['fsp.ftso-reveal warning']],
  ['Lavish', 'too-many-values', ['fsp.ftso-reveal warning']],
  ['Misplaced', 'fdc-in-submit1', ['fsp.fdc-submit1 warning']],
  ['Liar', 'reveal-mismatch', ['fsp.reveal-offence critical']],
  ['Forger', 'wrong-key', ['fsp.signature-mismatch critical', 'fsp.fdc-reveal-offence critical']],
  ['Slow', 'grace-signature', ['fsp.signature-grace warning']],
  ['Clumsy', 'failing-transactions', ['fsp.tx-failed warning']],
  ['Racer', 'normal-reverts', []],
  ['Miscount', 'wrong-bit-vote-length', ['fsp.fdc-bitvote-length warning']],
  ['Partial', 'bit-vote-against-consensus', ['fsp.fdc-consensus warning']],
  ['Poor', 'low-balance', ['fsp.balance-low critical']],
  ['Silent', 'no-fast-updates', ['fsp.fast-updates critical']],
]

let world: WatchWorld
const watchOf = new Map<string, number>()

async function scan(): Promise<void> {
  const { app } = world
  const signal = new AbortController().signal
  await world.devnet.mine(2, 1)
  await app.facts.rounds.advance(await app.chain.confirmedBlock(app.confirmations, signal), signal)
  await world.look()
}

async function notified(name: string): Promise<string[]> {
  const alerts = await world.notified(watchOf.get(name) ?? 0)
  return alerts.map(({ event, severity }) => `${event} ${severity}`)
}

beforeAll(async () => {
  const providers = [{ name: 'Anchor', stake: 3_000_000_000 }, ...CASES.map(([name]) => ({ name }))]
  world = await watchWorld({ simulation: { providers } })
  for (const [name] of CASES) {
    const provider = world.simulation().provider(name).accounts.identity.address
    const signals = name === 'Silent' ? SENSITIVE : EVERY_SIGNAL
    const { id } = await world.watch('provider-fsp', { provider }, {}, { signals })
    watchOf.set(name, id)
  }
}, 60_000)
afterAll(() => world.close())

describe('providers on a chain', () => {
  test('no alert fires while every provider fulfils its duties', async () => {
    await world.simulation().playRounds(5)
    await scan()
    for (const [name] of CASES) expect([name, await notified(name)]).toEqual([name, []])
  })

  test('each fault fires exactly its own alert, with its severity', async () => {
    const simulation = world.simulation()
    // Silence takes longer to detect than the other faults.
    await simulation.behave('Silent', 'no-fast-updates')
    await simulation.playRounds(1, 60)
    for (const [name, behaviour] of CASES) await simulation.behave(name, behaviour)
    await simulation.playRounds(3, 60)
    await scan()
    const found = await Promise.all(
      CASES.map(async ([name]) => [name, (await notified(name)).sort()]),
    )
    expect(found).toEqual(CASES.map(([name, , events]) => [name, [...events].sort()]))
  })

  test('each alert recovers once when the provider fulfils its duties again', async () => {
    const simulation = world.simulation()
    for (const [name, behaviour] of CASES) await simulation.recover(name, behaviour)
    await simulation.playRounds(24)
    await scan()
    const found = await Promise.all(
      CASES.map(async ([name, , events]) => [
        name,
        (await notified(name)).slice(events.length).sort(),
      ]),
    )
    const recovered = (event: string) => `${event.split(' ')[0]}.recovered info`
    expect(found).toEqual(CASES.map(([name, , events]) => [name, events.map(recovered).sort()]))
  })
})

test('an alert about submissions to a former contract names both contracts and what to do', async () => {
  const alerts = await world.notified(watchOf.get('Astray') ?? 0)
  const commit = alerts.find(({ event }) => event === 'fsp.ftso-commit')
  expect(commit?.data).toMatchObject({
    reason: 'former-address',
    tx: expect.stringMatching(/^0x/),
    sentTo: CONTRACTS.oldSubmission,
    submission: CONTRACTS.submission,
  })
  const [rendered] = alerts.map(({ event, severity, data }) =>
    renderMessage(
      { ...SHOWN, event, severity: severity as 'warning', data },
      { locale: 'en', timezone: 'UTC' },
    ),
  )
  expect(rendered?.title).toContain('sent to a former contract')
  expect(rendered?.body).toContain('Set the Submission address of the client to 0x2cA6')
  expect(rendered?.fields.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['sentTo', 'submission', 'tx']),
  )
})

/** The other fields of the rendered alert. */
const SHOWN = {
  ...{
    alertId: 1,
    incidentId: 1,
    watchId: 1,
    watchLabel: 'Astray',
    firedAt: new Date('2026-11-20T12:00:00Z'),
  },
  ...{ link: 'https://watchdog.example.org/a/1', test: false },
}

describe('GET /provider-fsp', () => {
  const view = async (name: string, rounds = 30) => {
    const provider = world.simulation().provider(name).accounts.submit.address
    const { status, body } = await world.alice.request(
      'GET',
      `/provider-fsp?provider=${provider}&rounds=${rounds}`,
    )
    expect(status).toBe(200)
    return body
  }

  test('shows every round of a provider, whichever of its addresses is asked for', async () => {
    const { identity, submit } = world.simulation().provider('Mute').accounts
    const body = await view('Mute')
    expect(body).toMatchObject({
      provider: identity.address,
      addresses: { submit: submit.address },
      registered: true,
      inPolicy: true,
      stale: false,
    })
    const cells = body.rounds.map((round: { ftso: { commit: string } }) => round.ftso.commit)
    expect(cells.filter((cell: string) => cell === 'missing')).toHaveLength(3)
    expect(cells.filter((cell: string) => cell === 'ok').length).toBeGreaterThan(20)
  })

  test.each([
    ['Liar', 'ftso', 'reveal', 'offence'],
    ['Forger', 'ftso', 'signature', 'mismatch'],
    ['Slow', 'ftso', 'signature', 'late'],
    ['Tardy', 'ftso', 'commit', 'late'],
    ['Partial', 'fdc', 'bitvote', 'mismatch'],
    ['Fickle', 'fdc', 'signature', 'offence'],
  ] as const)('says of %s that its %s %s was %s', async (name, protocol, duty, cell) => {
    const { rounds } = await view(name)
    const cells = rounds.map((round: never) => round[protocol][duty])
    expect(cells.filter((shown: string) => shown === cell)).toHaveLength(3)
  })

  test('judges unwatched providers, too', async () => {
    const { rounds } = await view('Anchor', 3)
    expect(rounds).toHaveLength(3)
    expect(rounds[0].ftso).toEqual({ commit: 'ok', reveal: 'ok', signature: 'ok' })
  })

  test('returns a result for an address of no provider', async () => {
    const { body } = await world.alice.request('GET', `/provider-fsp?provider=0x${'12'.repeat(20)}`)
    expect(body).toMatchObject({ registered: false, inPolicy: false })
    expect(body).toHaveProperty('validators')
    expect(body.rounds[0].ftso.commit).toBe('unknown')
  })

  test('returns the stored data if the chain does not respond, and says so', async () => {
    const { identity } = world.simulation().provider('Mute').accounts
    await Promise.all([world.primary.down(), world.secondary.down()])
    const path = `/provider-fsp?provider=${identity.address}&rounds=30`
    const { body } = await world.alice.request('GET', path)
    await Promise.all([world.primary.up(), world.secondary.up()])
    expect(body).toMatchObject({ stale: true, registered: true })
    expect(body.rounds).toHaveLength(30)
  })

  test('reports no provider as unregistered while the chain does not respond', async () => {
    await Promise.all([world.primary.down(), world.secondary.down()])
    const path = `/provider-fsp?provider=0x${'12'.repeat(20)}`
    const { body } = await world.alice.request('GET', path)
    await Promise.all([world.primary.up(), world.secondary.up()])
    expect(body).toMatchObject({ stale: true, registered: null, inPolicy: null })
  })
})

describe('GET /providers/{provider}/metrics', () => {
  const pathOf = (name: string) =>
    `/providers/${world.simulation().provider(name).accounts.identity.address}/metrics`
  const samples = (text: string) =>
    text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  test('has the rounds, balances and policy of a watched provider for Prometheus', async () => {
    const { status, headers, text } = await world.alice.request('GET', pathOf('Mute'))
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    const { identity, submit } = world.simulation().provider('Mute').accounts
    const common = `provider="${identity.address}",chain="flare"`
    const lines = samples(text)
    expect(lines).toContain(`flare_provider_duties{${common},duty="commit",result="missing"} 3`)
    expect(lines).toContain(`flare_provider_duty_ok{${common},duty="commit"} 1`)
    expect(lines).toContain(`flare_provider_in_policy{${common}} 1`)
    expect(lines.join('\n')).toContain(`role="submit",address="${submit.address}"`)
    for (const line of lines) {
      expect(line).toMatch(/^flare_provider_[a-z_]+\{[a-z]+="[^"]+"(,[a-z]+="[^"]+")*\} [\d.e+-]+$/)
    }
  })

  test('is refused for a provider that the wallet does not watch', async () => {
    const unwatched = await world.alice.request('GET', pathOf('Anchor'))
    expect([unwatched.status, unwatched.body.code]).toEqual([404, 'provider_not_watched'])
    const bob = await signIn(world, 'bob')
    const foreign = await bob.request('GET', pathOf('Mute'))
    expect([foreign.status, foreign.body.code]).toEqual([404, 'provider_not_watched'])
  })

  test('needs neither the chain nor a second query within ten seconds', async () => {
    await Promise.all([world.primary.down(), world.secondary.down()])
    const spied = vi.spyOn(world.app.facts.rounds, 'newest')
    const first = await world.alice.request('GET', pathOf('Tardy'))
    const second = await world.alice.request('GET', pathOf('Tardy'))
    await Promise.all([world.primary.up(), world.secondary.up()])
    expect([first.status, second.text]).toEqual([200, first.text])
    expect(spied).toHaveBeenCalledTimes(1)
  })
})
