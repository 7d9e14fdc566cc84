import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { signalHelp } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import { EvidenceClaim } from '#src/watches/evidence-model.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { checkEvent, type SilenceClaimed } from '../../examples/evidence/events.ts'
import { decodeClaim, decodeData, type Evidence } from '../../examples/evidence/file.ts'
import { evidenceRules, RULES_FILE } from '../generated/evidence-rules.ts'
import { every } from '../support/every.ts'

/** Event, severity and rule of evidence are bound to its claim by the script of examples/. */

interface Stated {
  readonly event: string
  readonly severity: Evidence['severity']
  readonly firedAt: string
  readonly rule: string | null
  readonly claim: Readonly<Record<string, unknown>>
  readonly data: Evidence['data']
}

const SEVERITIES = ['info', 'warning', 'critical'] as const
const t = translator('en')

/** Some months before the rewards of the example expire. */
const FIRED_AT = '2026-11-20T12:00:00.000Z'

/** Evidence of an example of every event that has a claim, with every severity that it can have. */
const ALL: readonly Stated[] = REGISTRY.flatMap(({ name, signals }) =>
  signals.flatMap((signal) =>
    signal.events.alerts.flatMap((event) => {
      const data = signal.examples[event] ?? {}
      const claim = signal.claim?.(data, { event, block: 41_880_225 })
      if (claim === undefined || typeof claim === 'string') return []
      const encoded = z.encode(EvidenceClaim, claim) as Stated['claim']
      const rule = signalHelp(t, { type: name, signal: signal.id }).checked ?? null
      const stated = { event, rule, firedAt: FIRED_AT, claim: encoded, data }
      return SEVERITIES.map((severity) => ({ ...stated, severity })).filter(isAccepted)
    }),
  ),
)

function resultOf({ claim, ...stated }: Stated): SilenceClaimed | undefined | 'refused' {
  try {
    return checkEvent({ ...stated, claim: decodeClaim(claim) })
  } catch {
    return 'refused'
  }
}

function isAccepted(stated: Stated): boolean {
  return resultOf(stated) !== 'refused'
}

test('every event with a claim exists, and its rule has a text in every language', () => {
  expect(JSON.parse(readFileSync(RULES_FILE, 'utf8'))).toEqual(evidenceRules())
  expect(new Set(ALL.map(({ event }) => event))).toEqual(new Set(Object.keys(evidenceRules())))
})

const EXAMPLES = REGISTRY.flatMap(({ signals }) =>
  signals.flatMap(({ claim, examples, events }) =>
    events.alerts.flatMap((event) => {
      const data = examples[event] ?? {}
      return typeof (claim?.(data, { event, block: 1 }) ?? '') === 'string' ? [] : [{ event, data }]
    }),
  ),
)

test('the figures of each event have a closed form', () =>
  every(EXAMPLES, ({ event, data }) => {
    expect(() => decodeData(event, data)).not.toThrow()
    expect(() => decodeData(event, { ...data, further: 1 })).toThrow('further')
  }))

describe('evidence of an event', () => {
  const each = ALL.map((stated) => [`${stated.event} ${stated.severity}`, stated] as const)

  test('with another event it is refused', () =>
    every(each, (_name, stated) => {
      const others = ALL.map(({ event }) => event).filter((event) => event !== stated.event)
      const unheard = ['fsp.unheard-of', 'constructor', `${stated.event}.recovered`]
      const accepted = [...new Set([...others, ...unheard])].filter((event) =>
        isAccepted({ ...stated, event }),
      )
      expect(accepted).toEqual([])
    }))

  test('with another severity it is refused, or checked on the chain', () =>
    every(each, (_name, stated) => {
      const left = SEVERITIES.filter((severity) => isAccepted({ ...stated, severity }))
      const results = left.map((severity) => resultOf({ ...stated, severity }))
      if (left.length === 1) return expect(results).toEqual([undefined])
      // Whether the provider sent nothing at all is on the chain.
      expect(left).toEqual(['warning', 'critical'])
      expect(results).toEqual([
        { rounds: 2, isSilent: false },
        { rounds: 2, isSilent: true },
      ])
    }))

  test('is one step less severe if the alert says that it is probably the network', () => {
    const withOthers = ALL.filter(({ data }) => 'others' in data)
    const accepted = (event: string, others: object) =>
      SEVERITIES.filter((severity) =>
        withOthers.some(
          (stated) =>
            stated.event === event && isAccepted({ ...stated, severity, data: { others } }),
        ),
      )
    const network = { total: 10, failed: 3 }
    expect(accepted('fsp.ftso-commit', network)).toEqual(['info', 'warning'])
    expect(accepted('fsp.reveal-offence', network)).toEqual(['warning'])
    expect(accepted('fsp.signature-grace', network)).toEqual(['info'])
    expect(accepted('fsp.fast-updates', network)).toEqual(['warning'])
    for (const few of [
      { total: 11, failed: 3 },
      { total: 2, failed: 2 },
    ]) {
      expect(accepted('fsp.reveal-offence', few)).toEqual(['critical'])
    }
  })

  test('with another rule it is refused', () =>
    every(each, (_name, stated) => {
      const rule = stated.rule ?? ''
      for (const other of [null, '', `${rule} `, rule.replace(/\d+/, '9'), rule.toUpperCase()]) {
        if (other !== rule) expect(isAccepted({ ...stated, rule: other })).toBe(false)
      }
    }))
})

test.each([
  ['fsp.mc-anchor', 'used', 0.04],
  ['fsp.mc-anchor', 'used', 1.01],
  ['fsp.mc-fdc', 'condition', 'mc-anchor'],
  ['fsp.ftso-reveal', 'checks', ['reveal']],
  ['fsp.signature-mismatch', 'required', 2],
  ['fsp.not-in-policy', 'voters', null],
  ['signing.uptime-open', 'minutes', 1],
  ['signing.rewards-open', 'minutes', 720],
  ['signing.rewards-reminder', 'isConcluded', true],
  ['signing.missed', 'isConcluded', false],
])('%s with another %s is refused', (event, name, value) => {
  const stated = ALL.filter((alert) => alert.event === event)
  expect(stated.length).toBeGreaterThan(0)
  for (const alert of stated) {
    expect(isAccepted({ ...alert, claim: { ...alert.claim, [name]: value } })).toBe(false)
  }
})
