import type { EpochDaemon } from './epoch-daemon.ts'
import type { RoundSchedule } from './round-schedule.ts'
import { epochStart, type ProtocolTiming, roundStart } from './timing.ts'
import type { BlockWriter } from './writer.ts'

/** Simulated rounds. */
export interface SimulatedRounds {
  readonly first: number
  /** The last round with commits. */
  readonly last: number
  /** The last round with signatures. */
  readonly complete: number
}

/** Skips through the time of a chain on which no other process creates blocks. Times are epoch seconds. */
export interface TimeTravel {
  /** Simulates a number of rounds, with additional empty blocks in each. */
  inFull(rounds: number, quietBlocks?: number): Promise<SimulatedRounds>
  /**
   * Skips to a time; only actions of reward epochs run.
   *
   * @throws Error when a due action creates no block and would stay due forever
   */
  skipTo(seconds: number): Promise<void>
  /** Simulates everything up to a time. */
  playTo(seconds: number): Promise<void>
  toEpochEnd(isInFull: boolean): Promise<SimulatedRounds>
  toRegistration(): Promise<SimulatedRounds>
  toPublication(): Promise<SimulatedRounds>
}

/** Rounds simulated before and after a skip. */
const ROUNDS_AROUND = 2

/** Creates skips along a sequence of rounds. Long because it has one function for each kind of skip. */
export function createTimeTravel(parts: {
  readonly timing: ProtocolTiming
  readonly writer: BlockWriter
  readonly epochDaemon: EpochDaemon
  readonly schedule: RoundSchedule
}): TimeTravel {
  const { timing, writer, epochDaemon, schedule } = parts
  const before = (seconds: number) => seconds - (ROUNDS_AROUND + 1) * timing.roundSeconds
  const nextEpochStart = () => epochStart(timing, epochDaemon.epoch + 1)

  async function inFull(rounds: number, quietBlocks = 0): Promise<SimulatedRounds> {
    const first = schedule.round
    const last = first + rounds - 1
    for (let round = first; round <= last; round += 1) {
      const end = roundStart(timing, round + 1)
      while (schedule.nextAt() < end) await schedule.step(false)
      await fill(end - 1 - writer.head.timestamp, quietBlocks)
    }
    return { first, last, complete: last - 1 }
  }

  async function fill(seconds: number, blocks: number): Promise<void> {
    const fitting = Math.min(blocks, seconds)
    if (fitting > 0) await writer.empty(fitting, Math.floor(seconds / fitting))
  }

  async function skipTo(seconds: number): Promise<void> {
    for (;;) {
      const due = epochDaemon.nextDue(writer.head.timestamp + 1)
      if (due >= seconds) break
      const { number } = writer.head
      await epochDaemon.tick(due)
      if (writer.head.number === number) throw new Error(`nothing happened that was due at ${due}`)
    }
    await reach(seconds)
    schedule.resume(writer.head.timestamp)
  }

  async function reach(seconds: number): Promise<void> {
    if (seconds > writer.head.timestamp) await writer.block(seconds, [])
  }

  async function until(isThere: () => boolean, roundsAfter: number): Promise<SimulatedRounds> {
    const first = schedule.round
    while (!isThere()) await inFull(1)
    return { ...(await inFull(roundsAfter)), first }
  }

  /** Time at which the next registration opens that has not opened yet. */
  function opening(): number {
    const sinceEnd = timing.randomAcquisitionSeconds - timing.initializationSeconds
    const next = nextEpochStart() + sinceEnd
    const isOver = next <= writer.head.timestamp
    return isOver ? epochStart(timing, epochDaemon.epoch + 2) + sinceEnd : next
  }

  return {
    inFull,
    skipTo,
    playTo: async (seconds) => {
      while (schedule.nextAt() <= seconds) await schedule.step(false)
      await reach(seconds)
    },
    toEpochEnd: async (isInFull) => {
      const { epoch } = epochDaemon
      if (!isInFull) await skipTo(before(nextEpochStart()))
      return until(() => epochDaemon.epoch > epoch, ROUNDS_AROUND)
    },
    toRegistration: async () => {
      const isOpen = () => epochDaemon.registrationSince !== undefined
      if (!isOpen()) await skipTo(before(opening()))
      return until(isOpen, 1)
    },
    toPublication: async () => {
      const { epoch, published } = epochDaemon
      const count = published.size
      const began = published.has(epoch - 1) ? nextEpochStart() : epochStart(timing, epoch)
      await skipTo(before(began + timing.publicationSeconds))
      return until(() => published.size > count, ROUNDS_AROUND)
    },
  }
}
