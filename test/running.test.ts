import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

/**
 * The files that run the service elsewhere must agree with `npm start` and with the existing
 * variables.
 */

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
/** The shell of npm is replaced by the service, so that it gets the signals to npm. */
const START = packageJson.scripts.start.replace(/^exec /, '')
const variables = new Set(
  [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name),
)

test('the image starts the service like npm start', () => {
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? []
  expect(JSON.parse(command).join(' ')).toBe(START)
})

test('the systemd unit starts the service like npm start', () => {
  const [, command = ''] =
    /^ExecStart=(.*)$/m.exec(read('ops/systemd/flare-watchdog.service')) ?? []
  expect(command.replace('/opt/flare-watchdog/node_modules/.bin/', '')).toBe(START)
})

test('the image has every folder that the service reads', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (\w+) \1$/gm)].map(([, folder]) => folder)
  const kept = [...read('.dockerignore').matchAll(/^!(\w+)$/gm)].map(([, folder]) => folder)
  expect(copied.toSorted()).toEqual(['bot', 'examples', 'locales', 'migrations', 'src'])
  expect(kept).toEqual(expect.arrayContaining(copied))
})

test('compose sets only variables of the service, and runs each role once', () => {
  const services = read('compose.yaml').split(/^services:$/m)
  const [common = '', apart = ''] = services
  const set = [...common.matchAll(/^ {4}([A-Z_]+): /gm)].map(([, name = '']) => name)
  expect(set.length).toBeGreaterThan(3)
  expect(set.filter((name) => !variables.has(name))).toEqual([])
  const roles = [...apart.matchAll(/^ {6}ROLES: (\w+)$/gm)].map(([, role]) => role)
  expect(roles).toEqual(['api', 'bot', 'watcher', 'delivery'])
})

/** Names of the metrics in the code; a histogram has three. */
const exported = new Set(
  ['src/metrics.ts', 'src/kernel/meters.ts'].flatMap((path) =>
    [...read(path).matchAll(/'(watchdog_\w+)'/g)].flatMap(([, name = '']) =>
      ['', '_bucket', '_count', '_sum'].map((part) => name + part),
    ),
  ),
)
const namesIn = (text: string) => [...text.matchAll(/watchdog_\w+/g)].map(([name]) => name)

test('the dashboard shows every exported metric, and no other', () => {
  const { panels } = JSON.parse(read('ops/grafana/dashboard.json'))
  const queries: string = panels
    .flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    )
    .join('\n')
  expect(namesIn(queries).filter((name) => !exported.has(name))).toEqual([])
  const shown = new Set(namesIn(queries).map((name) => name.replace(/_bucket$/, '')))
  const all = [...exported].filter((name) => !/_(bucket|count|sum)$/.test(name))
  expect(all.filter((name) => !shown.has(name))).toEqual([])
})

test('docs/operations.md explains every exported metric, and no other', () => {
  const named = new Set(
    [...read('docs/operations.md').matchAll(/`(watchdog_\w+?)(?:_bucket|_count|_sum)?[`{]/g)].map(
      ([, name]) => name,
    ),
  )
  const all = [...exported].filter((name) => !/_(bucket|count|sum)$/.test(name))
  expect(all.filter((name) => !named.has(name))).toEqual([])
  expect([...named].filter((name = '') => !exported.has(name))).toEqual([])
})

test('every rule of Prometheus reads exported metrics and has a section in the runbook', () => {
  const rules = read('ops/prometheus/rules.yaml')
  expect(namesIn(rules).filter((name) => !exported.has(name))).toEqual([])
  const headings = new Set(
    [...read('docs/operations.md').matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name),
  )
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  expect(alerts.length).toBeGreaterThan(5)
  expect(alerts.filter((name) => !headings.has(name))).toEqual([])
})

test('every rule of Prometheus has a case in which it fires and one in which it does not', () => {
  const alerts = [...read('ops/prometheus/rules.yaml').matchAll(/- alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  const cases = [
    ...read('ops/prometheus/rules.test.yaml').matchAll(
      /alertname: (\w+)\n +exp_alerts:( \[\])?$/gm,
    ),
  ]
  const fires = new Set(cases.flatMap(([, name, none]) => (none === undefined ? [name] : [])))
  const rests = new Set(cases.flatMap(([, name, none]) => (none === undefined ? [] : [name])))
  expect(alerts.filter((name) => !fires.has(name))).toEqual([])
  expect(alerts.filter((name) => !rests.has(name))).toEqual([])
})

describe('the board and the rules for operators of providers', () => {
  const metrics = new Set(
    [...read('src/watches/provider-metrics.ts').matchAll(/name: '(\w+)'/g)].map(
      ([, name]) => `flare_provider_${name}`,
    ),
  )
  const used = (path: string) =>
    [...read(path).matchAll(/flare_provider_\w+/g)].map(([name]) => name)
  const rules = read('examples/provider/rules.yaml')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

  test('the board shows every figure of a provider, and no other', () => {
    const shown = new Set(used('examples/provider/dashboard.json'))
    expect([...metrics].filter((name) => !shown.has(name))).toEqual([])
    expect([...shown].filter((name) => !metrics.has(name))).toEqual([])
  })

  test('every rule reads figures that exist, and has a section that says what to do', () => {
    expect(used('examples/provider/rules.yaml').filter((name) => !metrics.has(name))).toEqual([])
    const page = read('examples/provider/README.md')
    expect(alerts.length).toBeGreaterThan(10)
    expect(alerts.filter((name) => !page.includes(`## ${name}\n`))).toEqual([])
    expect(alerts.filter((name) => !rules.includes(`README.md#${name.toLowerCase()}\n`))).toEqual(
      [],
    )
  })

  test('every rule has a case in which it fires and one in which it does not', () => {
    const cases = read('examples/provider/rules.test.yaml')
    const fires = alerts.filter((name) =>
      cases.includes(`alertname: ${name}\n        exp_alerts:\n`),
    )
    const rests = alerts.filter((name) =>
      cases.includes(`alertname: ${name}\n        exp_alerts: []`),
    )
    expect([fires, rests]).toEqual([alerts, alerts])
  })
})
