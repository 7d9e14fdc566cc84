import type { ControlPanel } from '../control-panel.ts'
import { BEHAVIOURS, type Behaviour } from '../devnet/fsp/behaviours.ts'
import { FAULTY_PROVIDER, type WorldParts } from '../world/parts.ts'
import { CHAT, INBOX, RECEIVER, type Scenario, type ScenarioGroup } from './define.ts'
import { ensureWatch } from './ensure-watch.ts'
import { runAndReportAlerts } from './report-alerts.ts'

/** Rounds simulated at once, without waiting: two whole ones and those they touch. */
const ROUNDS = 4
const QUIET_BLOCKS = 8
const ROUNDS_OF_UPDATES = 10

/** Scenarios of all faults of a data provider in its rounds. Long because it is the list of them. */
export function providerScenarios(world: WorldParts, panel: ControlPanel): ScenarioGroup {
  const { simulation } = world
  const target = { provider: simulation.provider(FAULTY_PROVIDER).accounts.identity.address }
  const misbehave = (
    id: string,
    label: string,
    behaviours: readonly Behaviour[],
    expected: string,
    rounds = ROUNDS,
  ): Scenario => ({
    id: `provider-${id}`,
    label,
    expected,
    resultPages: [CHAT, INBOX, RECEIVER],
    waitsForResults: true,
    run: (note, signal) =>
      runAndReportAlerts(world, alertsOf(world), { note, signal }, async () => {
        await simulation.behave(FAULTY_PROVIDER, ...behaviours)
        note(await playText(world, rounds))
      }),
  })
  return {
    title: 'Provider Alpha',
    get about() {
      return `${aboutAlpha(world)} Each button plays some rounds of 90 s at once; the clock goes with them.`
    },
    scenarios: [
      ensureWatch(panel, {
        id: 'provider-watch',
        label: 'Alice watches Alpha',
        expected: 'Its rounds, registration and votes, with whatever is on by default.',
        watches: [
          { type: 'provider-fsp', label: 'Alpha’s rounds', target, settings: {} },
          { type: 'provider-eligibility', label: 'Alpha’s standing', target, settings: {} },
          { type: 'reward-signing', label: 'Alpha’s votes', target, settings: {} },
        ],
      }),
      misbehave('silent', 'Silent', ['silent'], notified('Alpha submits nothing at all.')),
      misbehave(
        'commits',
        'Commits only',
        ['no-reveal'],
        notified('Alpha never reveals what it commits to.'),
      ),
      misbehave(
        'late',
        'Late',
        ['late-commit', 'late-reveal', 'grace-signature'],
        notified('Everything comes after its deadline.'),
      ),
      misbehave(
        'mismatch',
        'Wrong reveal',
        ['reveal-mismatch'],
        'Alpha reveals something else than it committed to. Told at once, as critical.',
      ),
      misbehave(
        'key',
        'Wrong signature',
        ['wrong-key'],
        'Alpha signs results with another key. Told as soon as a round is final.',
      ),
      misbehave(
        'fdc',
        'No FDC vote',
        ['no-bit-vote', 'no-fdc-signature'],
        notified('Attestations go without Alpha.'),
      ),
      misbehave(
        'failing',
        'Failing transactions',
        ['failing-transactions'],
        'One transaction in each round runs out of gas. Told at once.',
      ),
      misbehave(
        'updates',
        'No fast updates',
        ['no-fast-updates'],
        `Notified when that can be no chance any more: ${ROUNDS_OF_UPDATES} rounds are played.`,
        ROUNDS_OF_UPDATES,
      ),
      misbehave(
        'everything',
        'Everything wrong',
        ['silent', 'no-fast-updates', 'validator-gone', 'low-balance', 'unclaimed-rewards'],
        'Silent, without fast updates, validator and money. Several alerts.',
        ROUNDS_OF_UPDATES,
      ),
      {
        id: 'provider-healthy',
        label: 'Healthy again',
        expected:
          'Alpha does everything right. Whoever was told of a failure is told that it is over.',
        resultPages: [CHAT, INBOX, RECEIVER],
        waitsForResults: true,
        run: (note, signal) =>
          runAndReportAlerts(world, alertsOf(world), { note, signal }, async () => {
            await simulation.recover(FAULTY_PROVIDER)
            note(await playText(world, ROUNDS))
          }),
      },
    ],
  }
}

/** Properties of alerts about the provider. */
export function alertsOf({ simulation }: WorldParts) {
  const { address } = simulation.provider(FAULTY_PROVIDER).accounts.identity
  return {
    words: [FAULTY_PROVIDER, address.slice(0, 6)],
    events: ['fsp.', 'provider.', 'signing.'],
  }
}

/** Description of the provider and its faults. */
function aboutAlpha({ simulation }: WorldParts): string {
  const { accounts, behaviours } = simulation.provider(FAULTY_PROVIDER)
  const wrong = [...behaviours].map((behaviour) => BEHAVIOURS[behaviour])
  const state = wrong.length === 0 ? 'is healthy' : wrong.join(', ')
  return `${accounts.identity.address} is the one to watch; it ${state}.`
}

async function playText({ simulation }: WorldParts, rounds: number): Promise<string> {
  const { first, last } = await simulation.playRounds(rounds, QUIET_BLOCKS)
  return `rounds ${first} to ${last} played`
}

function notified(what: string): string {
  return `${what} Notified after two rounds of that.`
}
