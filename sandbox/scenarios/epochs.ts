import type { Behaviour } from '../devnet/fsp/behaviours.ts'
import type { SimulatedRounds } from '../devnet/fsp/time-travel.ts'
import { FAULTY_PROVIDER, type WorldParts } from '../world/parts.ts'
import { CHAT, INBOX, INDEX, RECEIVER, type Scenario, type ScenarioGroup } from './define.ts'
import { alertsOf } from './providers.ts'
import { runAndReportAlerts } from './report-alerts.ts'

/** After the signal's default of fifteen minutes and one round, and before Alpha registers after twenty. */
const LATE_MINUTES = 17
const SHOWN_ROUNDS = 10

/** Scenarios of rounds and reward epochs, with faults once per epoch. Long because it is the list of them. */
export function epochScenarios(world: WorldParts): ScenarioGroup {
  const { simulation } = world
  const play = (
    id: string,
    label: string,
    expected: string,
    run: () => Promise<SimulatedRounds>,
  ): Scenario => ({
    id: `epoch-${id}`,
    label,
    expected,
    resultPages: [INDEX, CHAT],
    run: async (note) => {
      const { first, last } = await run()
      note(`rounds ${first} to ${last} played; ${stateText(world)}`)
    },
  })
  const misbehave = (
    id: string,
    label: string,
    behaviour: Behaviour,
    expected: string,
    then: () => Promise<unknown>,
  ): Scenario => ({
    id: `epoch-${id}`,
    label,
    expected,
    resultPages: [CHAT, INBOX, RECEIVER],
    waitsForResults: true,
    run: (note, signal) =>
      runAndReportAlerts(world, alertsOf(world), { note, signal }, async () => {
        await simulation.behave(FAULTY_PROVIDER, behaviour)
        await then()
        note(stateText(world))
      }),
  })
  return {
    title: 'Epochs',
    get about() {
      return `${stateText(world)}. A reward epoch has 3,360 rounds, three and a half days: its quiet parts are skipped, and time jumps.`
    },
    scenarios: [
      play('round', 'Next round', 'One round of 90 s at once.', () => simulation.playRounds(1)),
      play('rounds', `${SHOWN_ROUNDS} rounds`, 'A quarter of an hour at once.', () =>
        simulation.playRounds(SHOWN_ROUNDS),
      ),
      play(
        'end',
        'Next reward epoch',
        'Everybody registers, the policy is signed, and the epoch ends. Uptime is voted on.',
        () => simulation.playToEpochEnd(),
      ),
      play(
        'rewards',
        'Rewards are published',
        'To where the last epoch’s rewards are known, voted on and claimed.',
        () => simulation.playToPublication(),
      ),
      play('registration', 'Registration opens', 'Two hours before the epoch ends.', () =>
        simulation.playToRegistration(),
      ),
      misbehave(
        'late-registration',
        'Alpha registers late',
        'late-registration',
        `Registration opens; ${LATE_MINUTES} minutes later Alpha is not there yet. Whoever watches that is notified, and notified again when it comes.`,
        async () => {
          await simulation.playToRegistration()
          await simulation.playTo((simulation.registrationSince ?? 0) + LATE_MINUTES * 60, {
            inFull: true,
          })
        },
      ),
      misbehave(
        'unregistered',
        'Alpha unregistered',
        'unregistered',
        'Alpha does not register and is not in the next epoch.',
        () => simulation.playToEpochEnd(),
      ),
      misbehave(
        'not-eligible',
        'Alpha not eligible',
        'not-eligible',
        'In the newest data set Alpha gets no rewards. It is looked at every few minutes: +1 min helps.',
        async () => undefined,
      ),
      misbehave(
        'uptime',
        'Alpha misses uptime vote',
        'misses-uptime-vote',
        'The epoch ends, and the vote on its uptime without Alpha.',
        async () => {
          await simulation.playToEpochEnd()
          await simulation.playRounds(SHOWN_ROUNDS)
        },
      ),
      misbehave(
        'rewards-vote',
        'Alpha misses rewards vote',
        'misses-rewards-vote',
        'Rewards are published, and voted on without Alpha.',
        () => simulation.playToPublication(),
      ),
    ],
  }
}

function stateText({ simulation }: WorldParts): string {
  const rewards = simulation.published.at(-1)
  const open = simulation.registrationSince === undefined ? '' : '; registration is open'
  return `Reward epoch ${simulation.rewardEpoch}, round ${simulation.round} is next; rewards are published up to ${rewards}${open}`
}
