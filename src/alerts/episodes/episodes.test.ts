import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Severity, worstSeverity } from '#src/kernel/display-values.ts'
import { findEventSource } from '#src/watches/events.ts'
import { applyFirings, type EpisodeFiring, type OpenAlert } from './episodes.ts'

const BASE = new Date('2026-11-20T12:00:00.000Z').getTime()
const at = (position: number) => new Date(BASE + position * 1000)

function openAlert(id: number, over: Partial<OpenAlert> = {}): OpenAlert {
  const position = over.position ?? id
  return {
    id,
    wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
    watchId: 1,
    incidentId: 1,
    type: 'provider-fsp',
    signal: 'ftso-commit',
    group: 'ftso',
    event: 'fsp.ftso-commit',
    severity: 'warning',
    data: {},
    position,
    firedAt: at(position),
    startedAt: null,
    acknowledgedBy: null,
    during: null,
    notifiedAt: at(position),
    acknowledgedAt: null,
    escalatedAt: null,
    escalatedTo: null,
    mutedAt: null,
    cooldownUntil: null,
    ...over,
  }
}

function change(position: number, over: Partial<EpisodeFiring> = {}): EpisodeFiring {
  return {
    alertId: position,
    watchId: 1,
    signal: 'ftso-commit',
    event: 'fsp.ftso-commit',
    severity: 'warning',
    data: {},
    isRecovery: false,
    position,
    firedAt: at(position),
    ...over,
  }
}
const recovery = (position: number, over: Partial<EpisodeFiring> = {}) =>
  change(position, {
    event: 'fsp.ftso-commit.recovered',
    severity: 'info',
    isRecovery: true,
    ...over,
  })
const ids = (alerts: readonly OpenAlert[] | undefined) => alerts?.map(({ id }) => id)

describe('a recovery', () => {
  test('ends the episode of every open alert of its signal and has the worst of their severities', () => {
    const recovered = recovery(9)
    const open = [
      openAlert(1),
      openAlert(5, { severity: 'critical' }),
      openAlert(2, { watchId: 2 }),
    ]
    const { effects, ends, open: rest } = applyFirings([recovered], open)
    expect(ids(effects.get(recovered)?.episode)).toEqual([1, 5])
    expect(effects.get(recovered)?.effectiveSeverity).toBe('critical')
    expect(ends).toEqual([{ alertIds: [1, 5], at: at(9) }])
    expect(ids(rest)).toEqual([2])
  })

  test('leaves other signals, and what fired after it, open', () => {
    const open = [openAlert(10), openAlert(1, { signal: 'ftso-reveal' })]
    expect(applyFirings([recovery(9)], open).ends).toEqual([])
  })

  test('weighs as much as its signal remembers where the alerts are deleted', () => {
    const recovered = recovery(9, { episodeSeverity: 'critical' })
    const effect = applyFirings([recovered], []).effects.get(recovered)
    expect(effect).toEqual({ episode: [], effectiveSeverity: 'critical' })
  })

  test('without an open alert has the severity info', () => {
    const recovered = recovery(9)
    expect(applyFirings([recovered], []).effects.get(recovered)).toEqual({
      episode: [],
      effectiveSeverity: 'info',
    })
  })
})

describe('an alert', () => {
  test('increases the severity of an open episode when it is worse than all before', () => {
    const fired = change(9, { severity: 'critical' })
    const { effects, ends, open } = applyFirings(
      [fired],
      [openAlert(1), openAlert(9, { severity: 'critical' })],
    )
    expect(ids(effects.get(fired)?.episode)).toEqual([1])
    expect(ends).toEqual([])
    expect(ids(open)).toEqual([1, 9])
  })

  test('that is no worse starts a new alert and ends the abandoned one without a message', () => {
    const fired = change(9)
    const { effects, ends, open } = applyFirings([fired], [openAlert(1), openAlert(9)])
    expect(effects.get(fired)?.episode).toEqual([])
    expect(ends).toEqual([{ alertIds: [1], at: at(9) }])
    expect(ids(open)).toEqual([9])
  })

  test('of another event of the signal stands beside it', () => {
    const fired = change(9, { event: 'signing.rewards-open', signal: 'reward-signing' })
    const before = openAlert(1, { event: 'signing.uptime-open', signal: 'reward-signing' })
    expect(applyFirings([fired], [before]).ends).toEqual([])
  })
})

describe('votes of a provider', () => {
  const signal = 'reward-signing'
  const vote = (position: number, name: string, [kind, epoch]: readonly [string, number]) => {
    const source = findEventSource(`signing.${name}`)
    const { [`signing.${name}`]: example } = source?.signal.examples ?? {}
    return {
      position,
      signal,
      event: `signing.${name}`,
      severity: name === 'missed' ? 'critical' : name === 'done' ? 'info' : 'warning',
      isRecovery: name === 'done',
      data: { ...example, vote: kind, rewardEpochId: epoch },
    } as const
  }
  const notified = (...all: readonly ReturnType<typeof vote>[]) => {
    const changes = all.map((alert) => change(alert.position, alert))
    const open = all
      .filter(({ isRecovery }) => !isRecovery)
      .map(({ position, ...rest }) => openAlert(position, rest))
    const { ends, open: rest, effects } = applyFirings(changes, open)
    const increases = changes.filter(
      (candidate) => !candidate.isRecovery && effects.get(candidate)?.episode.length,
    )
    return {
      ended: ends.map(({ alertIds }) => alertIds),
      open: ids(rest),
      increases: increases.map(({ position }) => position),
    }
  }

  test('that were missed stay open side by side, until the next of their kind is signed', () => {
    const missed = [
      vote(1, 'missed', ['uptime', 451]),
      vote(2, 'missed', ['rewards', 451]),
      vote(3, 'missed', ['uptime', 452]),
    ]
    expect(notified(...missed)).toEqual({ ended: [], open: [1, 2, 3], increases: [] })
    const done = vote(4, 'done', ['uptime', 453])
    expect(notified(...missed, done)).toMatchObject({ ended: [[1, 3]], open: [2] })
  })

  test('become worse independently', () => {
    const open = [
      vote(1, 'rewards-open', ['rewards', 451]),
      vote(2, 'uptime-open', ['uptime', 452]),
    ]
    const missed = vote(3, 'missed', ['uptime', 452])
    expect(notified(...open, missed)).toEqual({ ended: [], open: [1, 2, 3], increases: [3] })
    const done = vote(4, 'done', ['rewards', 451])
    expect(notified(...open, missed, done)).toMatchObject({ ended: [[1]], open: [2, 3] })
  })

  test('that can still be signed stay open when a later one is', () => {
    const open = vote(1, 'rewards-open', ['rewards', 451])
    const done = vote(2, 'done', ['rewards', 452])
    expect(notified(open, done)).toMatchObject({ ended: [], open: [1] })
  })
})

test('changes of one pass count one after another', () => {
  const [back, again] = [recovery(2), change(3, { severity: 'critical' })]
  const open = [openAlert(1), openAlert(3, { severity: 'critical' })]
  const { effects, open: rest } = applyFirings([change(1), back, again], open)
  expect(ids(effects.get(back)?.episode)).toEqual([1])
  expect(effects.get(again)?.episode).toEqual([])
  expect(ids(rest)).toEqual([3])
})

test('the episode of an alert ends at most once and never by an earlier change', () => {
  const severities: readonly Severity[] = ['warning', 'critical']
  const story = fc.array(
    fc.record({
      isRecovery: fc.boolean(),
      severity: fc.constantFrom(...severities),
      signal: fc.constantFrom('a', 'b'),
    }),
    { maxLength: 20 },
  )
  fc.assert(
    fc.property(story, (steps) => {
      const changes = steps.map((step, index) =>
        step.isRecovery ? recovery(index + 1, { signal: step.signal }) : change(index + 1, step),
      )
      const open = changes
        .filter(({ isRecovery }) => !isRecovery)
        .map(({ position, severity, signal }) => openAlert(position, { severity, signal }))
      const { ends, open: rest, effects } = applyFirings(changes, open)
      const ended = ends.flatMap(({ alertIds }) => alertIds)
      expect(new Set(ended).size).toBe(ended.length)
      expect([...ended, ...rest.map(({ id }) => id)].sort()).toEqual(
        open.map(({ id }) => id).sort(),
      )
      for (const end of ends) {
        for (const id of end.alertIds) expect(at(id) < end.at).toBe(true)
      }
      for (const [changed, { episode, effectiveSeverity: weight }] of effects) {
        if (changed.isRecovery)
          expect(weight).toBe(worstSeverity(['info', ...episode.map((e) => e.severity)]))
      }
    }),
  )
})
