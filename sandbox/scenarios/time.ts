import type { WorldParts } from '../world/parts.ts'
import { CHAT, INDEX, type Scenario, type ScenarioGroup, type ScenarioProgress } from './define.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Scenarios that advance the time of the chain and the world. Long because it is the list of all of them. */
export function timeScenarios(world: WorldParts): ScenarioGroup {
  const pass = (
    id: string,
    label: string,
    seconds: (now: Date) => number,
    expected: string,
  ): Scenario => ({
    id,
    label,
    expected,
    resultPages: [INDEX, CHAT],
    run: async (note, _signal, progress) => {
      await skipAndReport(world, seconds, progress)
      const block = await world.devnet.client.getBlockNumber()
      note(`it is ${timeText(world.clock.now())}, block ${block}`)
    },
  })
  return {
    title: 'Time',
    about: 'The chain’s clock and everybody else’s jump ahead together. Times are UTC.',
    scenarios: [
      pass(
        'time-1m',
        '+1 min',
        () => MINUTE,
        'Whatever waits for its next try within a minute gets it.',
      ),
      pass(
        'time-1h',
        '+1 h',
        () => HOUR,
        'Sign-in messages (5 min) and chat links (15 min) made before are over.',
      ),
      pass(
        'time-12h',
        '+12 h',
        () => 12 * HOUR,
        'Whatever waits for its next try gets it; the longest wait is 12 hours.',
      ),
      pass('time-22', 'to 22:00', untilHour(22), 'Late in the evening, of today or tomorrow.'),
      pass('time-07', 'to 07:00', untilHour(7), 'Early in the morning, of today or tomorrow.'),
      pass(
        'time-1d',
        '+1 d',
        () => DAY,
        'A failed renewal is tried again, three times in all. Slots end 72 h after their term.',
      ),
      pass(
        'time-27d',
        '+27 d',
        () => 27 * DAY,
        'Slots bought now renew in 3 days: that is announced. Without auto-renew or credits they end: a reminder.',
      ),
      pass(
        'time-30d',
        '+30 d',
        () => 30 * DAY,
        'Terms (30 d) of slots are renewed or end. Tokens (30 d), trials (14 d) and links in mails (24 h) made before are over.',
      ),
      pass(
        'time-100d',
        '+100 d',
        () => 100 * DAY,
        'What is kept for 30 days is deleted, such as the deliveries of alerts.',
      ),
    ],
  }
}

const SHOWN_MS = 500

/** Skips time, and shows meanwhile which time it is and how far that is. */
export async function skipAndReport(
  { clock, skip }: Pick<WorldParts, 'clock' | 'skip'>,
  seconds: (now: Date) => number,
  progress: (progress: ScenarioProgress) => void,
): Promise<void> {
  let from = 0
  let lengthMs = Number.POSITIVE_INFINITY
  const showNow = () => {
    const now = clock.now()
    const share = Math.min(1, Math.max(0, (now.getTime() - from) / lengthMs))
    progress({ share, text: `${Math.floor(100 * share)} %: ${timeText(now)}` })
  }
  const shown = setInterval(showNow, SHOWN_MS)
  try {
    await skip((now) => {
      from = now.getTime()
      lengthMs = seconds(now) * 1000
      showNow()
      return lengthMs / 1000
    })
  } finally {
    clearInterval(shown)
  }
}

/** Seconds until the next occurrence of an hour. */
function untilHour(hour: number): (now: Date) => number {
  return (now) => {
    const passed = (now.getTime() / 1000) % DAY
    const left = (hour * HOUR - passed + DAY) % DAY
    return Math.ceil(left === 0 ? DAY : left)
  }
}

function timeText(at: Date): string {
  const [day, time = ''] = at.toISOString().split('T')
  return `${time.slice(0, 8)} on ${day}`
}
