import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { evaluateWatch } from '../evaluate/evaluate.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { rewardSigning } from './reward-signing.ts'

const provider = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const HOUR = 3600
const END = new Date('2026-11-20T07:00:00Z').getTime()
const at = (hours: number) => new Date(END + hours * HOUR * 1000)

/** Events of one epoch, in hours after its end. */
interface Course {
  readonly epoch: number
  /** End of this epoch, in hours after END. */
  readonly ended: number
  readonly published: number | null
  readonly uptime: VoteCourse
  readonly rewards: VoteCourse
}

interface VoteCourse {
  readonly opened: number | null
  readonly concluded: number | null
  readonly signed: number | null
  /** Whether it signed another hash than the winning one. */
  readonly other?: boolean
}

const signedAtOnce = (concluded: number): VoteCourse => ({ opened: 0.2, concluded, signed: 0.25 })
const usual: Course = {
  epoch: 451,
  ended: 0,
  published: 4,
  uptime: signedAtOnce(0.3),
  rewards: { opened: 4.1, concluded: 20, signed: 4.5 },
}

function voteAt(vote: VoteCourse, ended: number, hour: number, isKnown: boolean) {
  const is = (time: number | null) => time !== null && ended + time <= hour
  const isConcluded = is(vote.concluded)
  const hasSigned = is(vote.signed) && !(isConcluded && vote.other === true)
  const time = (hours: number | null) => (is(hours) && hours !== null ? at(ended + hours) : null)
  return {
    openedAt: time(vote.opened),
    concludedAt: time(vote.concluded),
    isConcluded,
    signedAt: isKnown && hasSigned ? time(vote.signed) : null,
    signedOther: isConcluded && vote.other === true,
    isKnown,
    firstSignedAt: null,
    weightSigned: isConcluded ? null : 0.4,
  }
}

function observationAt(courses: readonly Course[], hour: number, isKnown = true) {
  const over = courses.filter(({ ended }) => ended <= hour)
  return {
    position: Math.round(hour * HOUR) + 1_000_000,
    at: at(hour),
    provider,
    rewardEpochId: (over.at(-1)?.epoch ?? 450) + 1,
    epochs: over.slice(-2).map(({ epoch, ended, published, uptime, rewards }) => ({
      rewardEpochId: epoch,
      endedAt: at(ended),
      publishedAt: published !== null && ended + published <= hour ? at(ended + published) : null,
      uptime: voteAt(uptime, ended, hour, isKnown),
      rewards: voteAt(rewards, ended, hour, isKnown),
    })),
  } as const
}

const watchOf = (over: Partial<EvaluatedWatch>): EvaluatedWatch => ({
  id: 1,
  wallet: provider,
  label: 'Test',
  settings: {},
  signals: [],
  recipientIds: null,
  minSeverity: 'info',
  cooldownSeconds: 0,
  mutedUntil: null,
  states: [],
  ...over,
})

type Observed = ReturnType<typeof observationAt>

function fold(looks: readonly Observed[], over: Partial<EvaluatedWatch> = {}) {
  let states: readonly StoredState[] = over.states ?? []
  const candidates = looks.flatMap((look) => {
    const stored = states.map((state) => ({
      ...state,
      state: JSON.parse(JSON.stringify(state.state)),
    }))
    const outcome = evaluateWatch(
      rewardSigning,
      { provider },
      watchOf({ ...over, states: stored }),
      look,
    )
    states = outcome.states
    return outcome.candidates
  })
  return { candidates, states }
}

const quarters = (from: number, to: number) =>
  Array.from({ length: Math.round((to - from) * 4) + 1 }, (_, index) => from + index / 4)

/** Notifications over the hours, observed every quarter of an hour. */
function notified(courses: readonly Course[], from = -1, to = 60) {
  return fold(quarters(from, to).map((hour) => observationAt(courses, hour))).candidates.map(
    ({ event, severity, firedAt, data }) => {
      const hour = (firedAt.getTime() - END) / HOUR / 1000
      return `${hour} h ${event} ${data['vote']} ${severity}`
    },
  )
}

const never: VoteCourse = { opened: 0.2, concluded: null, signed: null }

describe('reward-signing (evaluation rule 5)', () => {
  test('raises nothing while everything is signed in time', () => {
    expect(notified([usual])).toEqual([])
  })

  test('reports a missing uptime vote two hours after the end of the epoch', () => {
    expect(notified([{ ...usual, uptime: never }])).toEqual([
      '2 h signing.uptime-open uptime warning',
    ])
  })

  test('reports missing rewards two hours after their publication, and reminds after twelve', () => {
    expect(
      notified([{ ...usual, rewards: { opened: 4.1, concluded: null, signed: null } }]),
    ).toEqual([
      '6 h signing.rewards-open rewards warning',
      '16 h signing.rewards-reminder rewards warning',
    ])
  })

  test('reminds ten hours after a first alert that came late', () => {
    const open = { ...usual, rewards: { opened: 4.1, concluded: null, signed: null } }
    expect(notified([open], 15, 60)).toEqual([
      '15 h signing.rewards-open rewards warning',
      '25 h signing.rewards-reminder rewards warning',
    ])
  })

  test('does not expect the rewards vote before rewards are published and can be signed', () => {
    const rewards = { opened: null, concluded: null, signed: null }
    expect(notified([{ ...usual, published: null, rewards }])).toEqual([])
    const late = { opened: 0.2, concluded: 30, signed: 0.25 }
    expect(notified([{ ...usual, uptime: late, rewards }])).toEqual([
      '30 h signing.rewards-open rewards warning',
      '40 h signing.rewards-reminder rewards warning',
    ])
  })

  test('is critical when a vote is concluded without the signature', () => {
    expect(notified([{ ...usual, uptime: { opened: 0.2, concluded: 0.3, signed: null } }])).toEqual(
      ['0.5 h signing.missed uptime critical'],
    )
    const rewards = { opened: 4.1, concluded: 20, signed: null }
    expect(notified([{ ...usual, rewards }])).toEqual([
      '6 h signing.rewards-open rewards warning',
      '16 h signing.rewards-reminder rewards warning',
      '20 h signing.missed rewards critical',
    ])
  })

  test('does not count a signature of another hash than the concluded one', () => {
    const rewards = { opened: 4.1, concluded: 20, signed: 4.5, other: true }
    const looks = quarters(-1, 30).map((hour) => observationAt([{ ...usual, rewards }], hour))
    const { candidates } = fold(looks)
    expect(candidates.map(({ event }) => event)).toEqual(['signing.missed'])
    expect(candidates[0]?.data).toMatchObject({ signedOtherHash: true })
  })

  test('raises no recovery for a signature of another hash, only that the vote was missed', () => {
    const uptime = { opened: 0.2, concluded: 5, signed: 3, other: true }
    expect(notified([{ ...usual, uptime }], -1, 5.75)).toEqual([
      '2 h signing.uptime-open uptime warning',
      '5 h signing.missed uptime critical',
    ])
  })

  test('does not remind of a vote that the provider signed and that is still open', () => {
    const rewards = { opened: 4.1, concluded: null, signed: 7 }
    expect(notified([{ ...usual, rewards }])).toEqual(['6 h signing.rewards-open rewards warning'])
  })

  test('recovers once when the vote that the provider signed after an alert is concluded', () => {
    const rewards = { opened: 4.1, concluded: 30, signed: 17 }
    expect(notified([{ ...usual, rewards }])).toEqual([
      '6 h signing.rewards-open rewards warning',
      '16 h signing.rewards-reminder rewards warning',
      '30 h signing.done rewards info',
    ])
  })

  test('recovers from a missed vote when the next one of its kind is signed', () => {
    const missed = { ...usual, uptime: { opened: 0.2, concluded: 0.3, signed: null } }
    const next = { ...usual, epoch: 452, ended: 84 }
    expect(notified([missed, next], -1, 100)).toEqual([
      '0.5 h signing.missed uptime critical',
      '84.5 h signing.done uptime info',
    ])
  })

  test('recovers from each missed vote with a signature of its own kind', () => {
    const [missed, signed] = [{ opened: 0.2, concluded: 0.3, signed: null }, usual.uptime]
    const rewards = { opened: 4.1, concluded: 5, signed: null }
    const all = [
      { ...usual, uptime: missed, rewards },
      { ...usual, epoch: 452, ended: 84, uptime: signed, rewards },
      { ...usual, epoch: 453, ended: 168 },
    ]
    expect(notified(all, -1, 200)).toEqual([
      '0.5 h signing.missed uptime critical',
      '5 h signing.missed rewards critical',
      '84.5 h signing.done uptime info',
      '89 h signing.missed rewards critical',
      '188 h signing.done rewards info',
    ])
  })

  test('raises a recovery and an alert of one moment one after the other, also in a cooldown', () => {
    const uptime = { opened: 0.2, concluded: 6, signed: 5.5 }
    const first = { ...usual, uptime, published: null, rewards: never }
    const rewards = { opened: 4.1, concluded: 90, signed: null }
    const second = { ...usual, epoch: 452, ended: 84, uptime, rewards }
    const looks = quarters(-1, 100).map((hour) => observationAt([first, second], hour))
    for (const cooldownSeconds of [0, HOUR]) {
      const { candidates } = fold(looks, { cooldownSeconds })
      expect(candidates.map(({ event, data }) => `${event} ${data['vote']}`)).toEqual([
        'signing.uptime-open uptime',
        'signing.done uptime',
        'signing.uptime-open uptime',
        'signing.done uptime',
        'signing.rewards-open rewards',
      ])
    }
  })

  test('raises nothing about votes that were concluded before the first observation', () => {
    const missed = { ...usual, uptime: { opened: 0.2, concluded: 0.3, signed: null } }
    expect(notified([missed], 1, 60)).toEqual([])
  })

  test('raises nothing about votes that were concluded before the first observation and readable only later', () => {
    const missed = { ...usual, uptime: { opened: 0.2, concluded: 0.3, signed: null } }
    const unread = { ...observationAt([missed], 1), epochs: [] }
    const unknown = observationAt([missed], 1, false)
    for (const first of [unread, unknown]) {
      const looks = [first, ...[2, 3, 60].map((hour) => observationAt([missed], hour))]
      expect(fold(looks).candidates).toEqual([])
    }
  })

  test('judges an open vote in the first observation', () => {
    expect(notified([{ ...usual, uptime: never }], 5, 6)).toEqual([
      '5 h signing.uptime-open uptime warning',
    ])
  })

  test('alerts about a vote that was concluded between two observations, also across an epoch', () => {
    const missed = { ...usual, rewards: { opened: 4.1, concluded: 80, signed: null } }
    const next = { ...usual, epoch: 452, ended: 84 }
    const looks = [0, 1, 90].map((hour) => observationAt([missed, next], hour))
    expect(fold(looks).candidates.map(({ event }) => event)).toEqual(['signing.missed'])
  })
})

const time = (max: number) => fc.option(fc.integer({ min: 0, max: max * 4 }).map((n) => n / 4))
const voteCourse = (from: number) =>
  fc
    .record({ concluded: time(60), signed: time(60), other: fc.boolean() })
    .map(({ concluded, signed, other }): VoteCourse => {
      const end = concluded === null ? null : from + concluded
      const sign = signed === null ? null : from + signed
      const isLate = end !== null && sign !== null && sign > end
      return { opened: from, concluded: end, signed: isLate ? null : sign, other }
    })
const course = (epoch: number, ended: number) =>
  fc.record({
    epoch: fc.constant(epoch),
    ended: fc.constant(ended),
    published: time(40),
    uptime: voteCourse(0.25),
    rewards: voteCourse(4),
  })
const courses = fc.tuple(course(451, 0), course(452, 84), course(453, 168))
const hours = fc
  .uniqueArray(fc.integer({ min: -4, max: 240 * 2 }), { minLength: 1, maxLength: 80 })
  .map((all) => all.map((half) => half / 2).toSorted((a, b) => a - b))

describe('any course of votes', () => {
  test('never says of a vote that it was signed and that it was missed', () => {
    fc.assert(
      fc.property(courses, hours, (all, times) => {
        const { candidates } = fold(times.map((hour) => observationAt(all, hour)))
        const of = (name: string) =>
          candidates
            .filter(({ event }) => event === name)
            .map(({ data }) => `${data['vote']} ${data['rewardEpochId']}`)
        const missed = new Set(of('signing.missed'))
        expect(of('signing.done').filter((vote) => missed.has(vote))).toEqual([])
      }),
    )
  })

  test('recovers only after an alert, and raises each event once', () => {
    fc.assert(
      fc.property(courses, hours, (all, times) => {
        const { candidates } = fold(times.map((hour) => observationAt(all, hour)))
        const seen = new Set<string>()
        for (const { event, data } of candidates) {
          const key = `${event} ${data['rewardEpochId']} ${data['vote']}`
          expect(seen.has(key), key).toBe(false)
          seen.add(key)
        }
      }),
    )
  })

  test('ends each alert with its signature or, after a missed vote, the next signature of its kind', () => {
    fc.assert(
      fc.property(courses, hours, (all, times) => {
        const { candidates, states } = fold(times.map((hour) => observationAt(all, hour)))
        const open = new Map<string, { epoch: number; vote: unknown; isMissed: boolean }>()
        for (const { event, data } of candidates) {
          const [epoch, vote] = [Number(data['rewardEpochId']), data['vote']]
          if (event !== 'signing.done') {
            open.set(`${vote} ${epoch}`, { epoch, vote, isMissed: event === 'signing.missed' })
            continue
          }
          const over = [...open].filter(
            ([, opened]) =>
              opened.vote === vote &&
              (opened.epoch === epoch || (opened.isMissed && opened.epoch < epoch)),
          )
          expect(over).not.toEqual([])
          for (const [key] of over) open.delete(key)
        }
        expect(states[0]?.phase === 'firing').toBe(open.size > 0)
      }),
    )
  })

  test('raises the same events after a restart at any point, or a repeated observation', () => {
    fc.assert(
      fc.property(courses, hours, fc.nat({ max: 80 }), (all, times, cut) => {
        const looks = times.map((hour) => observationAt(all, hour))
        const names = (candidates: readonly { event: string; position: number }[]) =>
          candidates.map(({ event, position }) => `${event} ${position}`)
        const whole = names(fold(looks).candidates)
        const first = fold(looks.slice(0, cut))
        const second = fold(looks.slice(cut), { states: first.states })
        expect([...names(first.candidates), ...names(second.candidates)]).toEqual(whole)
        const twice = looks.flatMap((look, index) => (index === cut ? [look, look] : [look]))
        expect(names(fold(twice).candidates)).toEqual(whole)
      }),
    )
  })

  test('raises no further events when evidence is missing', () => {
    fc.assert(
      fc.property(courses, hours, fc.func(fc.boolean()), (all, times, isHidden) => {
        // One observation raises one event of each kind: the rest follows minutes later.
        const often = times.flatMap((hour) => [0, 1, 2, 3, 4].map((more) => hour + more / 100))
        const known = fold(often.map((hour) => observationAt(all, hour))).candidates
        const hidden = fold(
          times.map((hour) => observationAt(all, hour, !isHidden(hour))),
        ).candidates
        const keys = (candidates: typeof known) =>
          candidates.map(({ event, data }) => `${event} ${data['rewardEpochId']} ${data['vote']}`)
        const alerts = (candidates: typeof known) =>
          keys(candidates.filter(({ event }) => event === 'signing.missed'))
        const first = times[0] ?? 0
        fc.pre(!isHidden(first))
        expect(alerts(known)).toEqual(expect.arrayContaining(alerts(hidden)))
      }),
    )
  })

  test('is skipped only while no event would be raised', () => {
    const { prefilter } = rewardSigning
    if (prefilter === undefined) throw new Error('there is no prefilter')
    fc.assert(
      fc.property(courses, hours, fc.nat({ max: 10 }), (all, times, joins) => {
        const looks = times.map((hour) => observationAt(all, hour))
        const run = (isGuarded: boolean) => {
          let states: readonly (readonly StoredState[])[] = [[], []]
          let summary: unknown
          return looks.flatMap((look, index) => {
            const isStale = index === 0 || index === joins
            const isQuiet =
              summary !== undefined &&
              prefilter.isQuiet(z.decode(prefilter.schema, summary as never), look)
            if (isGuarded && isQuiet && !isStale) return []
            let next = prefilter.empty
            const fired = [0, 1].flatMap((place) => {
              if (place === 1 && index < joins) return []
              const watch = watchOf({ states: states[place] ?? [] })
              const outcome = evaluateWatch(rewardSigning, { provider }, watch, look)
              states = states.with(place, outcome.states)
              const byId = new Map(outcome.states.map(({ signal, state }) => [signal, state]))
              next = prefilter.add(next, { settings: {}, states: byId }, look)
              return outcome.candidates.map(
                ({ event, position }) => `${place} ${event} ${position}`,
              )
            })
            summary = z.encode(prefilter.schema, next)
            return fired
          })
        }
        expect(run(true)).toEqual(run(false))
      }),
    )
  })
})
