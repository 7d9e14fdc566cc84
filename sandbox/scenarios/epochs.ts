import type { Behaviour } from '../devnet/fsp/behaviours.ts'
import type { PlayedRounds } from '../devnet/fsp/time-travel.ts'
import type { WorldParts } from '../world/parts.ts'
import { thenAlerts } from './alerts.ts'
import { CHAT, type Happening, type HappeningGroup, INBOX, INDEX, RECEIVER } from './define.ts'
import { alertsOf } from './providers.ts'

const NAME = 'Alpha'
/** After the signal's default of fifteen minutes and one round, and before Alpha registers after twenty. */
const LATE_MINUTES = 17
const SHOWN_ROUNDS = 10

/** Scenarios of rounds and reward epochs, with faults once per epoch. */
export function epochHappenings(world: WorldParts): HappeningGroup {
  const { player } = world
  const play = (
    id: string,
    label: string,
    follows: string,
    run: () => Promise<PlayedRounds>,
  ): Happening => ({
    id: `epoch-${id}`,
    label,
    follows,
    look: [INDEX, CHAT],
    run: async (note) => {
      const { first, last } = await run()
      note(`rounds ${first} to ${last} played; ${stateText(world)}`)
    },
  })
  const misbehave = (
    id: string,
    label: string,
    behaviour: Behaviour,
    follows: string,
    then: () => Promise<unknown>,
  ): Happening => ({
    id: `epoch-${id}`,
    label,
    follows,
    look: [CHAT, INBOX, RECEIVER],
    waits: true,
    run: (note, signal) =>
      thenAlerts(world, alertsOf(world), { note, signal }, async () => {
        await player.behave(NAME, behaviour)
        await then()
        note(stateText(world))
      }),
  })
  return {
    title: 'Epochs',
    get about() {
      return `${stateText(world)}. A reward epoch has 3,360 rounds, three and a half days: its quiet parts are skipped, and time jumps.`
    },
    happenings: [
      play('round', 'Next round', 'One round of 90 s at once.', () => player.playRounds(1)),
      play('rounds', `${SHOWN_ROUNDS} rounds`, 'A quarter of an hour at once.', () =>
        player.playRounds(SHOWN_ROUNDS),
      ),
      play(
        'end',
        'Next reward epoch',
        'Everybody registers, the policy is signed, and the epoch ends. Uptime is voted on.',
        () => player.playToEpochEnd(),
      ),
      play(
        'rewards',
        'Rewards are published',
        'To where the last epoch’s rewards are known, voted on and claimed.',
        () => player.playToPublication(),
      ),
      play('registration', 'Registration opens', 'Two hours before the epoch ends.', () =>
        player.playToRegistration(),
      ),
      misbehave(
        'late-registration',
        'Alpha registers late',
        'late-registration',
        `Registration opens; ${LATE_MINUTES} minutes later Alpha is not there yet. Whoever watches that is notified, and notified again when it comes.`,
        async () => {
          await player.playToRegistration()
          await player.playTo((player.registrationSince ?? 0) + LATE_MINUTES * 60, { inFull: true })
        },
      ),
      misbehave(
        'unregistered',
        'Alpha unregistered',
        'unregistered',
        'Alpha does not register and is not in the next epoch.',
        () => player.playToEpochEnd(),
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
          await player.playToEpochEnd()
          await player.playRounds(SHOWN_ROUNDS)
        },
      ),
      misbehave(
        'rewards-vote',
        'Alpha misses rewards vote',
        'misses-rewards-vote',
        'Rewards are published, and voted on without Alpha.',
        () => player.playToPublication(),
      ),
    ],
  }
}

function stateText({ player }: WorldParts): string {
  const rewards = player.published.at(-1)
  const open = player.registrationSince === undefined ? '' : '; registration is open'
  return `Reward epoch ${player.rewardEpoch}, round ${player.round} is next; rewards are published up to ${rewards}${open}`
}
