import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { needPrograms } from './needed.ts'

/**
 * Which rule tells of an outage, and after how long, with a scrape and an evaluation each 30 seconds. The series of an
 * outage are those that a process has in it (`test/journeys/quiet-outages.long.test.ts`).
 */

const RULES = join(import.meta.dirname, '../../ops/prometheus/rules.yaml')
const ALERTS = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(
  ([, name = '']) => name,
)
/** Samples of an hour. */
const ALWAYS = (value: number) => `${value}x120`
const GROWS = '0+30x120'
const CHECKS = [
  ...['database', 'migrations', 'clock', 'chain', 'evaluation', 'contracts', 'publications'],
  ...['outbox', 'alerts', 'bot', 'mail', 'standby'],
]

/** Series by name and labels of their own, with their samples. */
type Series = Readonly<Record<string, string>>

const WELL: Series = {
  'watchdog_info{commit="0123456789ab"}': ALWAYS(1),
  watchdog_chain_head_age_seconds: ALWAYS(5),
  'watchdog_evaluation_age_seconds{type="provider-fsp"}': ALWAYS(5),
  'watchdog_evaluation_behind_seconds{type="provider-fsp"}': ALWAYS(60),
  'watchdog_deliveries_oldest_due_seconds{channel="email"}': ALWAYS(0),
  watchdog_ledger_wrong_wallets: ALWAYS(0),
  watchdog_ledger_proved_timestamp_seconds: ALWAYS(0),
  watchdog_unmatched_payments: ALWAYS(0),
  watchdog_telegram_answer_age_seconds: ALWAYS(20),
  watchdog_mail_failing_seconds: ALWAYS(0),
  watchdog_canary_arrived_timestamp_seconds: GROWS,
  ...Object.fromEntries(CHECKS.map((check) => [problem(check), ALWAYS(0)])),
}

function problem(check: string): string {
  return `watchdog_problem{check="${check}"}`
}

/** The series of a healthy service without the named ones. */
function without(...names: readonly string[]): Series {
  const isKept = ([name]: [string, string]) => !names.some((start) => name.startsWith(start))
  return Object.fromEntries(Object.entries(WELL).filter(isKept))
}

/** Adds the labels that every series of a process has. */
function ofChain(chain: string, series: Series): Series {
  return Object.fromEntries(
    Object.entries(series).map(([name, samples]) => {
      const [metric = '', labels = ''] = name.replace('}', '').split('{')
      const all = [`chain="${chain}"`, 'version="0.1.0"', ...(labels === '' ? [] : [labels])]
      return [`${metric}{${all.join(',')}}`, samples]
    }),
  )
}

const UP = 'up{job="flare-watchdog",instance="a"}'
const FLARE = { [UP]: ALWAYS(1), ...ofChain('flare', WELL) }
const flare = (over: Series): Series => ({ ...FLARE, ...ofChain('flare', over) })

interface Outage {
  readonly name: string
  readonly series: Series
  readonly alert: string
  /** Labels of the alert, apart from its chain. */
  readonly labels?: Readonly<Record<string, string>>
  readonly chain?: string | undefined
  /** Seconds after which it does not fire yet, and after which it fires. */
  readonly between: readonly [number, number]
}

const OUTAGES: readonly Outage[] = [
  {
    name: 'the database is down, hangs, is read-only or has no space left',
    series: {
      [UP]: ALWAYS(1),
      ...ofChain('flare', {
        ...without('watchdog_deliveries', 'watchdog_unmatched', 'watchdog_ledger'),
        ...{ [problem('database')]: ALWAYS(1), [problem('chain')]: ALWAYS(1) },
        ...{ [problem('migrations')]: ALWAYS(1), [problem('clock')]: ALWAYS(1) },
        ...{ [problem('bot')]: ALWAYS(1), watchdog_telegram_answer_age_seconds: GROWS },
        watchdog_chain_head_age_seconds: GROWS,
        'watchdog_evaluation_age_seconds{type="provider-fsp"}': GROWS,
      }),
    },
    ...{ alert: 'WatchdogProblem', labels: { check: 'database' }, between: [90, 150] },
  },
  {
    name: 'a process answers nothing',
    series: { [UP]: ALWAYS(0) },
    ...{ alert: 'WatchdogDown', chain: undefined, between: [90, 150] },
    labels: { instance: 'a', job: 'flare-watchdog' },
  },
  {
    name: 'Prometheus knows no process',
    series: {},
    ...{ alert: 'WatchdogDown', chain: undefined, between: [90, 150] },
    labels: { job: 'flare-watchdog' },
  },
  {
    name: 'Telegram refuses the token, or another program takes all updates',
    series: flare({ [problem('bot')]: ALWAYS(1), watchdog_telegram_answer_age_seconds: GROWS }),
    ...{ alert: 'WatchdogTelegramSilent', between: [90, 150] },
  },
  {
    name: 'another program takes every second batch of updates',
    series: flare({ [problem('bot')]: ALWAYS(1) }),
    ...{ alert: 'WatchdogTelegramSilent', between: [90, 150] },
  },
  {
    name: 'Telegram does not answer',
    series: flare({ [problem('bot')]: '0x3 1x117', watchdog_telegram_answer_age_seconds: GROWS }),
    ...{ alert: 'WatchdogTelegramSilent', between: [180, 270] },
  },
  {
    name: 'no process runs the bot',
    series: { [UP]: ALWAYS(1), ...ofChain('flare', without('watchdog_telegram')) },
    ...{ alert: 'WatchdogFigureMissing', between: [150, 210] },
    labels: { figure: 'telegram_answer_age_seconds' },
  },
  {
    name: 'no round was ever judged',
    series: flare({ 'watchdog_evaluation_age_seconds{type="provider-fsp"}': GROWS }),
    ...{ alert: 'WatchdogNotEvaluated', labels: { type: 'provider-fsp' }, between: [210, 300] },
  },
  {
    name: 'rounds are judged eleven minutes late',
    series: flare({ 'watchdog_evaluation_behind_seconds{type="provider-fsp"}': ALWAYS(654) }),
    ...{ alert: 'WatchdogBehind', labels: { type: 'provider-fsp' }, between: [90, 150] },
  },
  {
    name: 'judging falls behind with each minute',
    series: flare({ 'watchdog_evaluation_behind_seconds{type="provider-fsp"}': '90+30x120' }),
    ...{ alert: 'WatchdogBehind', labels: { type: 'provider-fsp' }, between: [180, 300] },
  },
  {
    name: 'no endpoint answers',
    series: flare({ watchdog_chain_head_age_seconds: GROWS, [problem('chain')]: '0x3 1x117' }),
    ...{ alert: 'WatchdogNoNewBlocks', between: [210, 300] },
  },
  {
    name: 'the registry has no contracts',
    series: flare({ [problem('contracts')]: ALWAYS(1) }),
    ...{ alert: 'WatchdogProblem', labels: { check: 'contracts' }, between: [90, 150] },
  },
  {
    name: 'the mail server refuses the log-in',
    series: flare({ [problem('mail')]: ALWAYS(1), watchdog_mail_failing_seconds: GROWS }),
    ...{ alert: 'WatchdogMailFails', between: [210, 300] },
  },
  {
    name: 'the standby does not follow',
    series: flare({ [problem('standby')]: ALWAYS(1) }),
    ...{ alert: 'WatchdogStandbyUnused', between: [270, 330] },
  },
  {
    name: 'a payment names no top-up',
    series: flare({ watchdog_unmatched_payments: '0x2 1x118' }),
    ...{ alert: 'WatchdogPaymentUnmatched', between: [60, 90] },
  },
  {
    name: 'no process sends',
    series: flare({ 'watchdog_deliveries_oldest_due_seconds{channel="email"}': GROWS }),
    ...{ alert: 'WatchdogDeliveriesLate', labels: { channel: 'email' }, between: [270, 360] },
  },
  {
    name: 'of two chains on one Prometheus the second stands still',
    series: {
      ...FLARE,
      ...ofChain('songbird', { ...WELL, watchdog_chain_head_age_seconds: '3300+30x120' }),
    },
    ...{ alert: 'WatchdogNoNewBlocks', chain: 'songbird', between: [30, 90] },
  },
  {
    name: 'of two chains on one Prometheus the second lacks a gauge',
    series: { ...FLARE, ...ofChain('songbird', without('watchdog_chain_head_age')) },
    ...{ alert: 'WatchdogFigureMissing', chain: 'songbird', between: [150, 210] },
    labels: { figure: 'chain_head_age_seconds' },
  },
]

interface Expected {
  readonly atSeconds: number
  readonly alert: string
  readonly alerts: readonly Readonly<Record<string, string>>[]
}

/** A test of promtool. YAML reads JSON. */
function testOf(series: Series, expected: readonly Expected[]) {
  return {
    interval: '30s',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: expected.map(({ atSeconds, alert, alerts }) => ({
      eval_time: `${atSeconds}s`,
      alertname: alert,
      exp_alerts: alerts.map((labels) => ({
        exp_labels: { ...labels, severity: described(alert).severity },
        exp_annotations: described(alert).annotations,
      })),
    })),
  }
}

/** Severity and annotations of a rule. */
function described(alert: string) {
  const [, rest = ''] = readFileSync(RULES, 'utf8').split(`- alert: ${alert}\n`)
  const value = (key: string) => new RegExp(` ${key}: (.+)`).exec(rest)?.[1] ?? ''
  return {
    severity: value('severity'),
    annotations: { summary: value('summary'), runbook: value('runbook') },
  }
}

/** Evaluates the rules with promtool. @returns what it complains of */
function evaluate(of: ReturnType<typeof testOf>): string {
  const folder = mkdtempSync(join(tmpdir(), 'watchdog-rules-'))
  try {
    const file = join(folder, 'outage.test.yaml')
    const content = { rule_files: [RULES], evaluation_interval: '30s', tests: [of] }
    writeFileSync(file, JSON.stringify(content))
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
    return stdout.includes('SUCCESS') ? stderr : stdout + stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

beforeAll(() => needPrograms('promtool'))

test('no rule fires while nothing is wrong', () => {
  const none = ALERTS.map((alert) => ({ atSeconds: 3000, alert, alerts: [] }))
  expect(evaluate(testOf(FLARE, none))).toBe('')
})

test.each(OUTAGES)('$name: $alert, after $between s', (outage) => {
  const { series, alert, labels = {}, between } = outage
  const chain = 'chain' in outage ? outage.chain : 'flare'
  const fired = { ...labels, ...(chain !== undefined && { chain }) }
  const expected = [
    { atSeconds: between[0], alert, alerts: [] },
    { atSeconds: between[1], alert, alerts: [fired] },
    { atSeconds: 1740, alert, alerts: [fired] },
    // One outage is told once.
    ...ALERTS.filter((other) => other !== alert && other !== 'WatchdogProblemStays').map(
      (other) => ({
        ...{ atSeconds: 1740, alert: other, alerts: [] },
      }),
    ),
  ]
  expect(evaluate(testOf(series, expected))).toBe('')
})
