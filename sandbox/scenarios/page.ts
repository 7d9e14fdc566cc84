import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { formatEther } from 'viem/utils'
import { acceptForms, renderView, sandboxPage, sendPage, serveLayout } from '../layout.ts'
import { serveTopic } from '../live.ts'
import { createScenarios, type Scenarios } from '../scenarios.ts'
import type { WorldParts } from '../world/parts.ts'
import type { Scenario } from './define.ts'
import type { ScenarioLogEntry } from './log.ts'

const SCRIPT = readFileSync(new URL('../browser/scenarios.js', import.meta.url))

/** The page `/happen`: scenarios and their results. */
export async function scenariosPage(
  app: FastifyInstance,
  { world }: { world: WorldParts },
): Promise<void> {
  const scenarios = createScenarios(world)
  app.addHook('preClose', () => scenarios.close())
  serveLayout(app)
  acceptForms(app)
  serveTopic(app, 'happen', (send) => scenarios.log.subscribe(() => send('changed')))

  app.get('/happen.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(SCRIPT),
  )
  app.get('/happen', async (_request, reply) => sendPage(reply, await render(world, scenarios)))
  app.post<{ Params: { entry: string } }>('/happen/log/:entry/dismiss', (request, reply) => {
    // An ended entry needs no dismissal.
    scenarios.dismiss(Number(request.params.entry))
    return reply.redirect('/happen', 303)
  })
  app.post<{ Params: { id: string } }>('/happen/:id', (request, reply) =>
    scenarios.start(request.params.id)
      ? reply.redirect('/happen', 303)
      : reply.code(404).type('text/plain').send('Nothing of that name can happen'),
  )
}

async function render(world: WorldParts, { groups, log }: Scenarios): Promise<string> {
  const newestFirst = log.entries.toReversed()
  const body = renderView('scenarios', {
    wallets: await walletsOf(world),
    groups: groups.map((group) => ({
      ...group,
      id: group.title.toLowerCase().replaceAll(' ', '-'),
      scenarios: group.scenarios.map((scenario) => shown(scenario, newestFirst)),
    })),
    entries: newestFirst.map(entryData),
  })
  return sandboxPage({
    title: 'Happen',
    current: 'happen',
    topic: 'happen',
    script: '/happen.js',
    style: '/world.css',
    body,
  })
}

function shown(
  { id, label, expected, resultPages, ongoingState }: Scenario,
  newestFirst: readonly ScenarioLogEntry[],
) {
  const last = newestFirst.find(({ scenarioId }) => scenarioId === id)
  return {
    id,
    label,
    expected,
    resultPages,
    ongoingState: ongoingState?.(),
    last: last && entryData(last),
  }
}

function entryData({ id, at, label, notes, state, waitsForResults, progress }: ScenarioLogEntry) {
  return {
    id,
    progress,
    label,
    state,
    isWaiting: waitsForResults && state === 'going',
    at: at.toISOString(),
    time: at.toISOString().slice(11, 19),
    outcome: notes.join(' · '),
  }
}

async function walletsOf({ devnet: { client, people } }: WorldParts) {
  return Promise.all(
    [people.alice, people.bob].map(async ({ name, account: { address } }) => ({
      name,
      balance: flrText(await client.getBalance({ address })),
    })),
  )
}

/** An amount with two decimals, such as `9,500.00 FLR`. */
export function flrText(wei: bigint): string {
  const amount = Number(formatEther(wei)).toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  })
  return `${amount} FLR`
}
