import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type {
  ProviderObservation,
  StoredCheck,
  TransactionPart,
} from '#src/fsp/indexer/observation-model.ts'
import { type CheckVerdict, ROUND_CHECKS, type RoundCheck } from '#src/fsp/protocol/verdict.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { runs } from '../../../../test/support/runs.ts'
import type { Evaluation, ParameterValues, Signal } from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { balanceLow, rewardsUnclaimed } from './balances.ts'
import { mcAnchor, mcFdc, mcUptime } from './conditions.ts'
import { fastUpdates } from './fast-updates.ts'
import { providerFsp } from './index.ts'
import { notInPolicy, registration } from './registration.ts'
import { txFailed } from './transactions.ts'
import { stakeEnd, validatorNotListed } from './validators.ts'

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const OTHER = '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269'
const FIRST_ROUND = 1_519_400
const SIGNALS: readonly FspSignal[] = providerFsp.signals as readonly FspSignal[]
type FspSignal = Signal<ProviderTarget, unknown, ProviderObservation, unknown>

function observation(index: number, parts: Partial<ProviderObservation> = {}): ProviderObservation {
  const round = FIRST_ROUND + index
  const startsAt = 1_658_430_000 + round * 90
  return {
    position: 41_880_000 + index * 60,
    at: new Date((startsAt + 180) * 1000),
    provider: PROVIDER,
    round,
    startsAt,
    rewardEpoch: 452,
    addresses: { submit: OTHER, submitSignatures: OTHER, signingPolicy: OTHER },
    checks: null,
    anchors: null,
    policy: null,
    registration: null,
    fastUpdates: null,
    transactions: [],
    balances: null,
    earnings: null,
    nodes: null,
    rewards: null,
    ...parts,
  }
}

const BAD_VALUES = {
  reason: 'missing',
  tx: null,
  requests: 5,
  commitPresent: false,
  sentLength: 4,
  expectedLength: 5,
  missing: [],
  commit: `0x${'a'.repeat(64)}`,
  computed: `0x${'b'.repeat(64)}`,
  submit1Tx: null,
  submit2Tx: null,
  protocol: 'ftso',
  recoveredSigner: null,
  expectedSigner: OTHER,
  deadlineAt: '2026-11-20T12:00:00.000Z',
  secondsLate: 3,
}

function checks(
  verdict: CheckVerdict,
  only?: RoundCheck,
  values = {},
): ProviderObservation['checks'] {
  const all = z.record(z.enum(ROUND_CHECKS), z.custom<StoredCheck>())
  return all.parse(
    Object.fromEntries(
      ROUND_CHECKS.map((name) => {
        const own = only === undefined || only === name ? verdict : 'good'
        return [
          name,
          own === 'bad' ? { verdict: own, values: { ...BAD_VALUES, ...values } } : { verdict: own },
        ]
      }),
    ),
  )
}

/**
 * Folds observations as a watch does: the state is encoded and decoded between them. `notified` has the alerts and
 * recoveries that a watch would send, each with the index of its observation.
 */
function fold(
  signal: FspSignal,
  observations: readonly ProviderObservation[],
  values: ParameterValues = {},
): { readonly notified: string[]; readonly steps: Evaluation<unknown>[] } {
  const parameters = {
    ...Object.fromEntries(signal.parameters.map((parameter) => [parameter.key, parameter.default])),
    ...values,
  }
  let state = signal.initial
  let open: string | undefined
  const notified: string[] = []
  const steps = observations.map((observation, index) => {
    const watch = { target: { provider: PROVIDER }, settings: {}, parameters } as const
    const step = signal.evaluate(
      z.decode(signal.state, z.encode(signal.state, state)),
      observation,
      watch,
    )
    state = step.state
    for (const { event, severity, data } of step.firings) {
      signal.present(event, JSON.parse(JSON.stringify(data)))
      if (event === signal.events.recovery) {
        if (open !== undefined) notified.push(`${index} recovered`)
        open = undefined
      } else if (open === undefined || (open === 'warning' && severity === 'critical')) {
        notified.push(`${index} ${severity}`)
        open = severity
      }
    }
    return step
  })
  return { notified, steps }
}

function find(id: string): FspSignal {
  const signal = SIGNALS.find((signal) => signal.id === id)
  if (signal === undefined) throw new Error(`no signal ${id}`)
  return signal
}

function rounds(pattern: string, check: RoundCheck, values = {}): ProviderObservation[] {
  const verdictOf = { B: 'bad', G: 'good', U: 'unknown' } as const
  return [...pattern].flatMap((letter, index) => {
    if (letter === '-') return []
    const verdict = verdictOf[letter as keyof typeof verdictOf]
    return [observation(index, { checks: checks(verdict, check, values) })]
  })
}

const STREAKS: readonly (readonly [string, RoundCheck])[] = [
  ['ftso-commit', 'commit'],
  ['ftso-reveal', 'reveal'],
  ['ftso-signature', 'signature'],
  ['fdc-bitvote', 'bitVote'],
  ['fdc-signature', 'fdcSignature'],
  ['fdc-bitvote-length', 'bitVoteLength'],
  ['fdc-consensus', 'consensus'],
]
const EPISODES: readonly (readonly [string, RoundCheck, string])[] = [
  ['reveal-offence', 'revealOffence', 'critical'],
  ['signature-mismatch', 'mismatch', 'critical'],
  ['signature-mismatch', 'fdcMismatch', 'critical'],
  ['signature-grace', 'grace', 'warning'],
  ['signature-grace', 'fdcGrace', 'warning'],
  ['fdc-reveal-offence', 'fdcOffence', 'critical'],
  ['fdc-submit1', 'strayCommit', 'warning'],
]

describe.each(STREAKS)('%s', (id, check) => {
  test.each([
    ['BBG', ['1 warning', '2 recovered']],
    ['BUB', []],
    ['BBUG', ['1 warning', '3 recovered']],
    ['BBB', ['1 warning']],
    ['BBBB', ['1 warning', '3 critical']],
    ['B-B', []],
    ['BBUUBBG', ['1 warning', '6 recovered']],
    ['GGG', []],
    ['UUU', []],
  ])('with the parameter of two rounds, %s gives %j', (pattern, notified) => {
    // A gap in the pattern is no observation, so later observations have lower indexes than their rounds.
    const found = fold(find(id), rounds(pattern, check)).notified
    expect(found).toEqual(notified)
  })

  test('alerts at once with the parameter of one round', () => {
    expect(fold(find(id), rounds('GBG', check), { rounds: 1 }).notified).toEqual([
      '1 warning',
      '2 recovered',
    ])
  })
})

test.each([
  [true, 'penalised'],
  [false, 'unpenalised'],
])('a missing reveal (penalised: %s) says what it costs', (penalised, kind) => {
  const signal = find('ftso-reveal')
  const data = { ...signal.examples['fsp.ftso-reveal'], penalised }
  const { facts, fields } = signal.present('fsp.ftso-reveal', data)
  expect(facts['loss']).toEqual({ kind: 'term', key: `messages:fsp.ftso-reveal.loss.${kind}` })
  expect(fields).not.toContain('loss')
})

test('a reveal that is missing after its commit is critical', () => {
  const notified = fold(
    find('ftso-reveal'),
    rounds('BB', 'reveal', { commitPresent: true }),
  ).notified
  expect(notified).toEqual(['1 critical'])
})

describe('a provider that sends nothing at all', () => {
  const DUTIES = ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const
  const duties = STREAKS.filter(([, check]) => DUTIES.some((duty) => duty === check))
  const missing = { verdict: 'bad', values: { ...BAD_VALUES, reason: 'missing' } } as const

  const silent = (index: number, over: Partial<Record<RoundCheck, StoredCheck>> = {}) => {
    const all = Object.fromEntries(DUTIES.map((duty) => [duty, missing]))
    const others = checks('unknown')
    if (others === null) throw new Error('no checks')
    // Without a reveal there are no values.
    const feedValues = { verdict: 'not-applicable' } as const
    return observation(index, { checks: { ...others, feedValues, ...all, ...over } })
  }

  test.each(duties)('%s is critical after two such rounds', (id) => {
    expect(fold(find(id), [silent(0), silent(1)]).notified).toEqual(['1 critical'])
  })

  test.each(
    duties,
  )('%s with the parameter of one round warns after the first such round, and is critical after the second', (id) => {
    expect(fold(find(id), [silent(0), silent(1)], { rounds: 1 }).notified).toEqual([
      '0 warning',
      '1 critical',
    ])
  })

  test.each(duties)('%s with the parameter of four rounds alerts after four such rounds', (id) => {
    const seen = Array.from({ length: 5 }, (_, index) => silent(index))
    expect(fold(find(id), seen, { rounds: 4 }).notified).toEqual(['3 critical'])
  })

  test('is silent also in rounds without FDC requests or without observed FDC duties', () => {
    for (const verdict of ['not-applicable', 'unknown'] as const) {
      const seen = [0, 1].map((i) => silent(i, { bitVote: { verdict }, fdcSignature: { verdict } }))
      expect(fold(find('ftso-commit'), seen).notified).toEqual(['1 critical'])
    }
  })

  test('makes a signal that is already a warning critical', () => {
    const late = { verdict: 'bad', values: { ...BAD_VALUES, reason: 'late' } } as const
    const seen = [silent(0, { commit: late }), silent(1, { commit: late }), silent(2)]
    const next = { ...silent(3) }
    expect(fold(find('ftso-commit'), [...seen, next], { rounds: 2 }).notified).toEqual([
      '1 warning',
      '3 critical',
    ])
  })

  test('is critical if and only if every observed duty was missed in the last rounds', () => {
    const verdict = fc.constantFrom<StoredCheck>(
      missing,
      missing,
      missing,
      { verdict: 'bad', values: { ...BAD_VALUES, reason: 'late' } },
      { verdict: 'good' },
      { verdict: 'unknown' },
      { verdict: 'not-applicable' },
    )
    const round = fc.record(Object.fromEntries(DUTIES.map((duty) => [duty, verdict])))
    const isMissed = (check: StoredCheck | undefined) => check?.values?.['reason'] === 'missing'
    const isTotal = (over: Partial<Record<string, StoredCheck>>) =>
      ['commit', 'reveal', 'signature'].every((duty) => isMissed(over[duty])) &&
      ['bitVote', 'fdcSignature'].every((duty) => {
        const check = over[duty]
        return (
          isMissed(check) || check?.verdict === 'unknown' || check?.verdict === 'not-applicable'
        )
      })
    fc.assert(
      fc.property(
        fc.array(round, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(...duties),
        (all, rounds, [id, check]) => {
          const seen = all.map((over, index) => silent(index, over))
          const { steps } = fold(find(id), seen, { rounds })
          let inARow = 0
          let streak = 0
          let isBroken = false
          for (const [index, over] of all.entries()) {
            const { verdict: own } = over[check] ?? {}
            inARow = isTotal(over) ? inARow + 1 : 0
            if (own === 'good' || own === 'unknown') streak = 0
            if (own === 'bad') streak += 1
            isBroken = own !== 'good' && (isBroken || streak >= rounds)
            const isCritical = steps[index]?.firings.some(({ severity }) => severity === 'critical')
            const isLong = streak >= 2 * rounds
            const isSilent = isBroken && inARow >= Math.max(2, rounds)
            expect(isCritical).toBe(own === 'bad' && (isLong || isSilent))
          }
        },
      ),
    )
  })

  test('does not make signals critical that judge the content of submissions', () => {
    const over = { bitVoteLength: missing, consensus: missing }
    const seen = [silent(0, over), silent(1, over)]
    expect(fold(find('fdc-consensus'), seen).notified).toEqual(['1 warning'])
  })
})

test.each(
  EPISODES,
)('%s fires at the first bad %s and recovers with the next good one', (id, check, severity) => {
  expect(fold(find(id), rounds('GBBUG', check)).notified).toEqual([`1 ${severity}`, '4 recovered'])
})

test('a mismatch of one protocol does not recover with a signature of the other', () => {
  const seen = [
    observation(0, { checks: checks('bad', 'mismatch') }),
    observation(1, { checks: checks('unknown', 'mismatch') }),
    observation(2, { checks: checks('good') }),
  ]
  expect(fold(find('signature-mismatch'), seen).notified).toEqual(['0 critical', '2 recovered'])
})

test.each(
  STREAKS,
)('%s has the first bad round with its start, and the number of rounds up to the last', (id) => {
  const signal = SIGNALS.find((signal) => signal.id === id)
  const event = `fsp.${id}`
  const data = signal?.examples[event] ?? {}
  const facts = signal?.present(event, data).facts ?? {}
  const rounds = Number(data['votingRoundId']) - Number(data['firstRoundId'])
  const seconds = Date.parse(String(data['roundStart'])) - Date.parse(String(data['since']))
  expect(seconds).toBe(rounds * 90_000)
  expect(facts['since']).toEqual({ kind: 'instant', at: new Date(String(data['since'])) })
  expect(facts['firstRound']).toEqual({ kind: 'identifier', value: data['firstRoundId'] })
})

test('a recovery has start, duration and number of missed rounds', () => {
  const { steps } = fold(find('ftso-commit'), rounds('GBBUBG', 'commit'))
  expect(steps.at(-1)?.firings[0]?.data).toMatchObject({
    missedRounds: 3,
    gapSeconds: 4 * 90,
    votingRoundId: FIRST_ROUND + 5,
  })
})

describe('fast-updates', () => {
  const silent = (exponent: number, blocks: number, last = 100) => ({
    fastUpdates: {
      exponent,
      blocksSinceUpdate: blocks,
      lastUpdateBlock: last,
      lastUpdateAt: observation(0).startsAt + last,
      sortitionWeight: 103,
      sampleSize: 1.5,
      onePercentBlocks: 2520,
      weightShare: 0.025,
    },
  })

  test('7: silence that is improbable by chance is critical, and ends with the next update', () => {
    const seen = [silent(1, 30), silent(16.2, 430), silent(17, 450), silent(0.1, 3, 560)]
    expect(
      fold(
        fastUpdates,
        seen.map((part, i) => observation(i, part)),
      ).notified,
    ).toEqual(['1 critical', '3 recovered'])
  })

  test('silence is counted from the last update before it to the first after it', () => {
    const seen = [silent(16.2, 430), silent(17, 450), silent(0.1, 3, 560)]
    const { steps } = fold(
      fastUpdates,
      seen.map((part, i) => observation(i, part)),
    )
    const since = new Date((observation(0).startsAt + 100) * 1000).toISOString()
    const data = steps.map(({ firings }) => firings[0]?.data)
    expect(data[0]).toMatchObject({ since, gapSeconds: 80, rule: 'probability' })
    expect(data[2]).toMatchObject({ since, gapSeconds: 460, rule: 'probability' })
  })

  describe('an update for more feeds than there are', () => {
    const long = (last: number, isAccepted: boolean, block = last) => {
      const { fastUpdates: part } = silent(1, 5, last)
      const at = observation(0).startsAt + block
      const length = { block, at, feedsSent: 13, feedCount: 9, isAccepted }
      return {
        fastUpdates: { ...part, tooLong: { tx: `0x${'e'.repeat(64)}` as const, ...length } },
      }
    }
    const all = (parts: readonly Partial<ProviderObservation>[]) =>
      fold(
        fastUpdates,
        parts.map((part, index) => observation(index, part)),
      )

    test('is a warning until an update for existing feeds is accepted', () => {
      const seen = [silent(1, 5, 90), long(100, true), silent(1, 40, 100), silent(1, 5, 180)]
      expect(all(seen).notified).toEqual(['1 warning', '3 recovered'])
      expect(all(seen).steps[1]?.firings[0]).toMatchObject({
        data: {
          rule: 'too-long',
          feedsSent: 13,
          feedCount: 9,
          isAccepted: true,
          updateBlock: 100,
        },
      })
      expect(all(seen).steps[3]?.firings[0]).toMatchObject({ data: { rule: 'too-long' } })
    })

    test('that was refused is a warning until an update is accepted', () => {
      const seen = [silent(1, 5, 90), long(90, false, 120), silent(2, 60, 90), silent(1, 5, 180)]
      expect(all(seen).notified).toEqual(['1 warning', '3 recovered'])
    })

    test('is part of the critical alert about the silence that follows it', () => {
      const seen = [long(90, false, 120), silent(17, 450, 90), silent(1, 5, 700)]
      expect(all(seen).notified).toEqual(['0 warning', '1 critical', '2 recovered'])
      const [alert] = all(seen).steps[1]?.firings ?? []
      expect(alert).toMatchObject({ data: { rule: 'probability', feedsSent: 13 } })
      const shown = fastUpdates.present('fsp.fast-updates', alert?.data ?? {})
      expect(shown).toMatchObject({ advice: 'long-update', facts: { feedCount: { value: 9 } } })
    })

    test('repeated for days, the last of these updates is the start of the silence that follows', () => {
      const last = 259_200
      const seen = [
        long(100, true),
        long(1000, true),
        long(last, true),
        silent(17, 450, last),
        silent(1, 3, last + 700),
      ]
      const { steps } = all(seen)
      const time = (second: number) =>
        new Date((observation(0).startsAt + second) * 1000).toISOString()
      expect(steps[2]?.firings[0]?.data).toMatchObject({ rule: 'too-long', since: time(100) })
      expect(steps[3]?.firings[0]?.data).toMatchObject({ rule: 'probability', since: time(last) })
      const over = { rule: 'probability', since: time(last), gapSeconds: 700 }
      expect(steps[4]?.firings[0]?.data).toMatchObject(over)
    })

    test('that is accepted ends the silence before it', () => {
      const seen = [silent(17, 450, 90), long(700, true), silent(17, 450, 700)]
      const since = all(seen).steps.map(({ firings }) => firings[0]?.data['since'])
      const [first, second] = [90, 700].map((second) =>
        new Date((observation(0).startsAt + second) * 1000).toISOString(),
      )
      expect(since).toEqual([first, second, second])
    })

    test('is not over between two round ends, when the length of updates is not known', () => {
      const between = { ...silent(3, 60, 150), isBetween: true } as const
      const seen = [long(100, true), between, long(170, true), silent(1, 5, 300)]
      expect(all(seen).notified).toEqual(['0 warning', '3 recovered'])
    })
  })

  test('a recovery has the rule of its alert', () => {
    const seen = [silent(8, 2600), silent(0.1, 3, 560)]
    const { steps } = fold(
      fastUpdates,
      seen.map((part, i) => observation(i, part)),
      { warningEnabled: true },
    )
    expect(steps[1]?.firings[0]).toMatchObject({
      event: 'fsp.fast-updates.recovered',
      data: { rule: 'one-percent' },
    })
  })

  test('the 1 % warning is off by default, and becomes critical by probability', () => {
    const seen = [silent(8, 2600), silent(16.2, 2700), silent(0, 1, 900)].map((part, i) =>
      observation(i, part),
    )
    expect(fold(fastUpdates, seen).notified).toEqual(['1 critical', '2 recovered'])
    expect(fold(fastUpdates, seen, { warningEnabled: true }).notified).toEqual([
      '0 warning',
      '1 critical',
      '2 recovered',
    ])
  })

  test('a change of the parameters does not end the silence', () => {
    const before = fold(fastUpdates, [observation(0, silent(17, 450))])
    const state = before.steps[0]?.state as Parameters<typeof fastUpdates.evaluate>[0]
    const watch = {
      target: { provider: PROVIDER },
      settings: {},
      parameters: { probability: 1e-15, warningEnabled: false },
    } as const
    const next = fastUpdates.evaluate(state, observation(1, silent(18, 470)), watch)
    expect(next).toMatchObject({ phase: 'firing', firings: [] })
  })
})

test('silence without a known last update ends only with an update', () => {
  const silent = (lastUpdateBlock: number | null, exponent: number) => ({
    fastUpdates: {
      exponent,
      blocksSinceUpdate: 100,
      lastUpdateBlock,
      lastUpdateAt: null,
      sortitionWeight: 100,
      sampleSize: 1.5,
      onePercentBlocks: 1000,
      weightShare: 0.02,
    },
  })
  const seen = [silent(17, 99), silent(null, 1), silent(18, 1)]
  const observations = seen.map((part, index) => observation(index, part))
  expect(fold(fastUpdates, observations).notified).toEqual(['0 critical', '2 recovered'])
})

test.each([
  ['fdc-bitvote', 'bitVote'],
  ['fdc-signature', 'fdcSignature'],
  ['fdc-consensus', 'consensus'],
] as const)('%s: rounds without requests neither continue nor reset a streak', (id, check) => {
  const seen = (pattern: string) => {
    const verdictOf = { B: 'bad', G: 'good', U: 'unknown', N: 'not-applicable' } as const
    return [...pattern].map((letter, index) =>
      observation(index, { checks: checks(verdictOf[letter as 'B'], check) }),
    )
  }
  expect(fold(find(id), seen('GBNNB')).notified).toEqual(['4 warning'])
  expect(fold(find(id), seen('GBNN')).notified).toEqual([])
  expect(fold(find(id), seen('GBNUB')).notified).toEqual([])
  expect(fold(find(id), seen('BBNNG')).notified).toEqual(['1 warning', '4 recovered'])
})

test('a round that is evaluated twice counts once', () => {
  const [first] = rounds('B', 'commit')
  if (first === undefined) throw new Error('no round')
  expect(fold(find('ftso-commit'), [first, first, first]).notified).toEqual([])
})

describe('registration', () => {
  test('names an old client as the probable cause after contracts moved', () => {
    const example = registration.examples['fsp.registration'] ?? {}
    const moved = { ...example, contractsMovedAt: '2026-11-22T05:00:00.000Z' }
    expect(registration.present('fsp.registration', example).advice).toBeUndefined()
    expect(registration.present('fsp.registration', moved).advice).toBe('old-client')
    expect(registration.present('fsp.registration.recovered', moved).advice).toBeUndefined()
  })

  const at = observation(0).at.getTime() / 1000
  const open = (openedAt: number, parts = {}) => ({
    registration: {
      epoch: 453,
      openedAt,
      closesAtEarliest: openedAt + 300,
      isClosed: false,
      isRegistered: false,
      wasRegistered: true,
      preRegistered: false,
      preRegistrationFailed: false,
      ...parts,
    },
  })

  test('8: alerts once if it is missing after the configured minutes, and recovers when the provider registers', () => {
    const opened = at - 14 * 60
    const seen = [
      observation(0, open(opened)),
      observation(1, open(opened)),
      observation(2, open(opened)),
      observation(3, open(opened, { isRegistered: true })),
    ]
    expect(fold(registration, seen).notified).toEqual(['1 critical', '3 recovered'])
  })

  test('alerts at the snapshot, whatever the configured minutes', () => {
    const seen = [observation(0, open(at - 60, { isClosed: true }))]
    expect(fold(registration, seen, { minutes: 1440 }).notified).toEqual(['0 critical'])
  })

  test('also alerts about a provider that is not registered for the current epoch', () => {
    const seen = [observation(0, open(at - 3600, { wasRegistered: false, isClosed: true }))]
    expect(fold(registration, seen).notified).toEqual(['0 critical'])
  })

  test('every reward epoch without a registration is an episode of its own', () => {
    const missing = (epoch: number) =>
      open(at - 3600, { epoch, wasRegistered: false, isClosed: true })
    const seen = [453, 453, 454, 454, 455].map((epoch, index) => observation(index, missing(epoch)))
    const { steps } = fold(registration, seen)
    const epochs = steps.map(({ firings }) => firings.map(({ data }) => data['rewardEpochId']))
    expect(epochs).toEqual([[453], [], [454], [], [455]])
    const last = { event: 'fsp.registration', data: steps[4]?.firings[0]?.data ?? {} }
    const recovery = (epoch: number) =>
      fold(registration, [observation(0, open(at, { epoch, isRegistered: true }))]).steps[0]
        ?.firings[0]?.data ?? {}
    expect(registration.episodes?.isOver(recovery(455), last)).toBe(true)
    expect(registration.episodes?.isOver(recovery(454), last)).toBe(false)
  })

  test('has the earliest closing time that was read from the chain', () => {
    const { steps } = fold(registration, [observation(0, open(at - 3600))])
    const closes = new Date((at - 3300) * 1000).toISOString()
    expect(steps[0]?.firings[0]?.data).toMatchObject({ closesAtEarliest: closes })
  })
})

test('not-in-policy fires for the newest policy and recovers with one that has the provider', () => {
  const policy = (isMember: boolean, next: boolean | null) => ({
    policy: {
      current: {
        epoch: 452,
        isMember,
        voters: 98,
        startRound: 1_518_720,
        startsAt: 1_795_114_800,
      },
      next:
        next === null
          ? null
          : {
              epoch: 453,
              isMember: next,
              voters: 98,
              startRound: 1_522_080,
              startsAt: 1_795_417_200,
            },
    },
  })
  const seen = [
    policy(true, null),
    policy(true, false),
    policy(true, false),
    policy(false, null),
    policy(false, true),
  ]
  expect(
    fold(
      notInPolicy,
      seen.map((part, i) => observation(i, part)),
    ).notified,
  ).toEqual(['1 critical', '4 recovered'])
  const first = fold(notInPolicy, [observation(0, policy(false, null))])
  expect(first.notified).toEqual(['0 critical'])
  // Round 1,518,720 began then, and with it reward epoch 452.
  expect(first.steps[0]?.firings[0]?.data).toMatchObject({
    rewardEpochId: 452,
    startsAt: '2026-11-19T19:00:00.000Z',
  })
})

describe('tx-failed', () => {
  const tx = (parts: Partial<TransactionPart> = {}): TransactionPart => ({
    tx: `0x${'c'.repeat(64)}`,
    ok: false,
    isBenign: false,
    from: OTHER,
    to: PROVIDER,
    role: 'submit',
    contract: 'Submission',
    selector: '0x9d00c9fd',
    function: 'submit2',
    reason: 'out of gas',
    block: 1,
    gasUsed: 1,
    gasLimit: 1,
    ...parts,
  })
  const seen = (...each: TransactionPart[][]) =>
    each.map((transactions, index) => observation(index, { transactions }))

  test('fires on a revert and recovers when the same call succeeds', () => {
    const other = tx({ ok: true, selector: '0x6c532fae' })
    expect(fold(txFailed, seen([tx()], [other], [], [tx({ ok: true })])).notified).toEqual([
      '0 warning',
      '3 recovered',
    ])
  })

  test('a revert that is repaired within one round is alerted, and its recovery follows in the next', () => {
    expect(fold(txFailed, seen([tx(), tx({ ok: true })], [])).notified).toEqual([
      '0 warning',
      '1 recovered',
    ])
  })

  test('a lost race is no failure', () => {
    expect(fold(txFailed, seen([tx({ isBenign: true })], [])).notified).toEqual([])
  })
})

describe('balance-low', () => {
  const holds = (flr: number, index = 0) =>
    observation(index, {
      balances: [
        {
          role: 'submit',
          address: OTHER,
          balanceWei: `${BigInt(Math.round(flr * 10)) * 10n ** 17n}`,
        },
        { role: 'signingPolicy', address: PROVIDER, balanceWei: `${90n * 10n ** 18n}` },
      ],
    })

  test('warns below the minimum, is critical at 5 FLR, recovers at 1.2 times the minimum', () => {
    const seen = [25, 24.9, 26, 5, 29.9, 30].map((flr, index) => holds(flr, index))
    expect(fold(balanceLow, seen).notified).toEqual(['1 warning', '3 critical', '5 recovered'])
  })

  test('a balance that could not be read is not judged', () => {
    expect(fold(balanceLow, [holds(3), observation(1)]).notified).toEqual(['0 critical'])
  })
})

test('rewards-unclaimed is info, and a warning in its last 14 days', () => {
  const waiting = (days: number | null, index: number) =>
    observation(index, {
      rewards: {
        epochs: days === null ? [] : [449],
        amountWei: '5',
        expiresAt: days === null ? null : observation(index).at.getTime() / 1000 + days * 86_400,
      },
    })
  const { steps } = fold(rewardsUnclaimed, [waiting(30, 0), waiting(14, 1), waiting(null, 2)])
  expect(
    steps.map(({ firings }) => firings.map(({ event, severity }) => `${event} ${severity}`)),
  ).toEqual([
    ['fsp.rewards-unclaimed info'],
    ['fsp.rewards-unclaimed warning'],
    ['fsp.rewards-unclaimed.recovered info'],
  ])
})

describe('the error budget of a minimal condition', () => {
  const LENGTH = 3360
  /** The epoch after `index` rounds, in which `missed` of its rounds went wrong wholly. */
  const epochAfter = (
    index: number,
    missed: number,
    parts: Partial<ProviderObservation> = {},
  ): ProviderObservation => {
    const judged = index + 1
    const cases = (ofOne: number) => ({
      done: (judged - missed) * ofOne,
      possible: judged * ofOne,
      rounds: judged,
    })
    const epoch = {
      ...{ firstRound: FIRST_ROUND, endRound: FIRST_ROUND + LENGTH, judged },
      ...{ anchors: cases(63), fdc: cases(1), weightShare: 0.02 },
      ...{ updates: 2 * (judged - missed), updatesOfAll: 100 * judged },
    }
    return observation(index, { epoch, ...parts })
  }
  /** Every tenth round of an epoch; `missedBy` a round so many had gone wrong. */
  const epochOf = (missedBy: (index: number) => number, rounds = LENGTH) =>
    Array.from({ length: rounds / 10 }, (_, step) =>
      epochAfter(step * 10 + 9, missedBy(step * 10 + 9)),
    )
  const stagesOf = (signal: FspSignal, seen: readonly ProviderObservation[]) => {
    const { steps } = fold(signal, seen)
    return steps.flatMap(({ firings }, step) =>
      firings.map(({ severity, data }) => `${step * 10 + 9} ${data['stage']} ${severity}`),
    )
  }

  test.each([
    ['mc-anchor', 0.2, 0.5],
    ['mc-fdc', 0.4, 0.5],
  ] as const)('%s tells once that it does not last, that most is used, and that none is left', (id, share, from) => {
    const allowed = share * LENGTH
    const [early, most, spent, ...more] = stagesOf(
      find(id),
      epochOf((index) => index + 1),
    )
    const roundIn = (line: string | undefined) => Number(line?.split(' ')[0])
    expect([early, most, spent].map((line) => line?.split(' ').slice(1).join(' '))).toEqual([
      'early warning',
      'most warning',
      'spent critical',
    ])
    expect(roundIn(early)).toBeCloseTo(from * allowed, -1.5)
    expect(roundIn(most)).toBeCloseTo(0.8 * allowed, -1.5)
    expect(roundIn(spent)).toBeCloseTo(allowed, -1.5)
    expect(more).toEqual([])
  })

  test('a handful of bad rounds, and a steady rate that the budget bears, cause no alert', () => {
    for (const missedBy of [
      (index: number) => Math.min(index + 1, 60),
      (index: number) => Math.floor(0.15 * index),
    ]) {
      for (const id of ['mc-anchor', 'mc-fdc']) {
        expect(stagesOf(find(id), epochOf(missedBy))).toEqual([])
      }
    }
  })

  test('an alert ends when the rest lasts comfortably, and with the next reward epoch', () => {
    const stopped = stagesOf(
      find('mc-anchor'),
      epochOf((index) => Math.min(index + 1, 400)),
    )
    expect(stopped.map((line) => line.split(' ')[1])).toEqual(['early', 'lasts'])
    const seen = epochOf((index) => index + 1, 800)
    const next = epochAfter(0, 0, { rewardEpoch: 453, round: FIRST_ROUND + LENGTH })
    const { steps } = fold(find('mc-anchor'), [...seen, next])
    expect(steps.at(-1)?.firings.map(({ event }) => event)).toEqual(['fsp.mc-anchor.recovered'])
  })

  test('the setting says from which part of the budget on it is told', () => {
    const firstWith = (percent: number) => {
      let state: unknown = mcFdc.initial
      for (const seen of epochOf((index) => index + 1)) {
        const result = mcFdc.evaluate(mcFdc.state.parse(state), seen, {
          ...{ target: { provider: PROVIDER }, settings: {}, parameters: { percent } },
        })
        if (result.firings.length > 0) return seen.round - FIRST_ROUND
        state = result.state
      }
      throw new Error('nothing was told')
    }
    expect([10, 50, 80].map(firstWith)).toEqual([139, 679, 1079])
  })

  test('mc-fast-updates allows for chance, and leaves out a provider with little weight', () => {
    const short = (share: number, weightShare: number) =>
      epochOf(() => 0).flatMap((seen) => {
        if (seen.epoch === undefined) return []
        const updates = Math.round(share * weightShare * seen.epoch.updatesOfAll)
        return [{ ...seen, epoch: { ...seen.epoch, weightShare, updates } }]
      })
    expect(stagesOf(find('mc-fast-updates'), short(0.97, 0.02))).toEqual([])
    expect(stagesOf(find('mc-fast-updates'), short(0.7, 0.0019))).toEqual([])
    const lines = stagesOf(find('mc-fast-updates'), short(0.7, 0.02))
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['early', 'most', 'spent'])
    expect(Number(lines[0]?.split(' ')[0])).toBeLessThan(LENGTH - 960)
  })

  test('mc-uptime names the validator with the least budget', () => {
    const nodeOf = (nodeId: string, connectedPolls: number, polls: number, rounds: number) => ({
      ...{ nodeId, polls: 1, connectedPolls: 1, isListed: true, endsAt: null },
      epoch: { polls, connectedPolls, rounds },
    })
    const seen = epochOf(() => 0).map((one, step) => {
      const polls = step * 10 + 10
      const nodes = [nodeOf('NodeID-A', polls, polls, polls), nodeOf('NodeID-B', 0, polls, polls)]
      return { ...one, nodes }
    })
    const { steps } = fold(mcUptime, seen)
    const [first] = steps.flatMap(({ firings }) => firings)
    expect(first?.data).toMatchObject({ nodeId: 'NodeID-B', stage: 'early' })
  })

  test('rounds that were not judged neither use the budget nor make it smaller', () => {
    const half = epochAfter(1999, 500)
    const epoch = half.epoch && { ...half.epoch, judged: 1000 }
    const counted = { done: 500 * 63, possible: 1000 * 63, rounds: 1000 }
    const { firings } = mcAnchor.evaluate(
      mcAnchor.initial,
      { ...half, ...(epoch && { epoch: { ...epoch, anchors: counted } }) },
      { target: { provider: PROVIDER }, settings: {}, parameters: { percent: 25 } },
    )
    expect(firings).toEqual([])
  })

  test('an alert says of how many rounds of the epoch nothing is known, if they are not few', () => {
    const alertOf = (rounds: number) => {
      const whole = epochAfter(1999, 600)
      const anchors = { done: (rounds - 600) * 63, possible: rounds * 63, rounds }
      const epoch = whole.epoch && { ...whole.epoch, judged: rounds, anchors }
      const { firings } = mcAnchor.evaluate(
        mcAnchor.initial,
        { ...whole, ...(epoch && { epoch }) },
        { target: { provider: PROVIDER }, settings: {}, parameters: { percent: 25 } },
      )
      const data = firings[0]?.data ?? {}
      return { data, fields: mcAnchor.present('fsp.mc-anchor', data).fields }
    }
    const late = alertOf(600)
    expect(late.data).toMatchObject({ stage: 'most', roundsUnknown: 1400 })
    expect(late.fields).toContain('uncounted')
    const almostWhole = alertOf(1950)
    expect(almostWhole.data).not.toHaveProperty('roundsUnknown')
    expect(almostWhole.fields).not.toContain('uncounted')
  })
})

describe('validators', () => {
  const nodes = (connectedPolls: number, isListed = true) => ({
    nodes: [
      { nodeId: 'NodeID-A', polls: 2, connectedPolls: 2, isListed: true, endsAt: null },
      { nodeId: 'NodeID-B', polls: 2, connectedPolls, isListed, endsAt: 1_790_000_060 },
    ],
  })

  test('stake-end is announced 14, 7 and 2 days before, once each, and recovers with a later end', () => {
    const DAY = 86_400
    const start = 1_658_430_000 + FIRST_ROUND * 90 + 180
    const end = start + 15 * DAY
    const node = (endsAt: number, isListed = true) => ({
      nodes: [{ nodeId: 'NodeID-A', polls: 2, connectedPolls: 2, isListed, endsAt }],
    })
    const seen = Array.from({ length: 16 * 24 }, (_, hour) =>
      observation(hour * 40, node(end, hour < 15 * 24)),
    )
    const again = observation(16 * 24 * 40, node(end + 180 * DAY))
    const { steps } = fold(stakeEnd, [...seen, again])
    const lines = steps.flatMap(({ firings }, hour) =>
      firings.map(({ event, severity }) => `${hour / 24} ${event} ${severity}`),
    )
    expect(lines).toEqual([
      '1 fsp.stake-end info',
      '8 fsp.stake-end warning',
      '13 fsp.stake-end critical',
      '16 fsp.stake-end.recovered info',
    ])
  })

  test('validator-not-listed names the missing node, and recovers when it is listed again', () => {
    const seen = [nodes(2), nodes(0, false), nodes(0, false), nodes(2)]
    const { notified, steps } = fold(
      validatorNotListed,
      seen.map((part, i) => observation(i, part)),
    )
    expect(notified).toEqual(['1 critical', '3 recovered'])
    expect(steps[1]?.firings[0]?.data).toEqual({
      provider: PROVIDER,
      nodeIds: ['NodeID-B'],
      listed: 1,
      stakeEndsAt: '2026-09-21T14:14:20.000Z',
    })
  })
})

describe('every signal', () => {
  const verdict = fc.constantFrom<CheckVerdict>('good', 'bad', 'unknown')
  const history = fc.array(
    fc.record({ verdict, gap: fc.integer({ min: 1, max: 3 }), hasEvidence: fc.boolean() }),
    { maxLength: 30 },
  )
  const asObservations = (
    steps: { verdict: CheckVerdict; gap: number; hasEvidence: boolean }[],
  ) => {
    let index = 0
    return steps.map((step) => {
      index += step.gap
      return observation(index, step.hasEvidence ? { checks: checks(step.verdict) } : {})
    })
  }

  test.each(
    SIGNALS.map((signal) => [signal.id, signal] as const),
  )('%s recovers only after an alert', (_id, signal) => {
    fc.assert(
      fc.property(history, (steps) => {
        const kinds = fold(signal, asObservations(steps)).notified.map((line) => line.split(' ')[1])
        expect(kinds[0]).not.toBe('recovered')
        expect(kinds.join(' ')).not.toContain('recovered recovered')
      }),
      { numRuns: runs(50) },
    )
  })

  test.each(
    SIGNALS.map((signal) => [signal.id, signal] as const),
  )('%s: rounds without evidence never make an alert or a recovery', (_id, signal) => {
    fc.assert(
      fc.property(history, fc.nat({ max: 30 }), (steps, place) => {
        const seen = asObservations(steps)
        const without = fold(signal, seen).notified.length
        const blank = seen.map((observed, i) =>
          i === place ? observation(observed.round - FIRST_ROUND) : observed,
        )
        const { steps: judged, notified } = fold(signal, blank)
        expect(judged[place]?.firings ?? []).toEqual([])
        expect(notified.length).toBeLessThanOrEqual(without + 1)
      }),
      { numRuns: runs(50) },
    )
  })

  test.each(
    SIGNALS.map((signal) => [signal.id, signal] as const),
  )('%s presents its examples', (_id, signal) => {
    for (const [event, data] of Object.entries(signal.examples)) {
      const { facts, fields } = signal.present(event, data)
      expect(fields.every((name) => name in facts)).toBe(true)
    }
    const { alerts, recovery } = signal.events
    expect(Object.keys(signal.examples).toSorted()).toEqual([...alerts, recovery].toSorted())
  })
})

test.each(
  LOCALES,
)('an alert about fast updates calls the limit what its setting is called, in %s', (locale) => {
  const example = fastUpdates.examples['fsp.fast-updates'] ?? {}
  const { fields = [] } = fastUpdates.present('fsp.fast-updates', example)
  expect(fields).toContain('chanceLimit')
  expect(translate(locale, 'messages:field.chanceLimit')).toBe(
    translate(locale, 'signals:provider-fsp.fast-updates.probability.label'),
  )
})
