import { type Measurement, median } from './report.ts'
import { benchKills, benchTakeover } from './scale-failures.ts'
import { measureFixedWork } from './scale-floor.ts'
import { fitModel, predict } from './scale-model.ts'
import {
  type CpuCost,
  EXTERNAL_UNITS,
  measureMixed,
  measureUnits,
  type UnitCosts,
  WORK_UNITS,
  type WorkUnit,
} from './scale-units.ts'
import { type ScaleWorld, withScaleWorld } from './scale-world.ts'

const ROUNDS = 2
const COUNTS = [1, 2, 4] as const
const GOAL_RATIO = 1.15
const KILLS = 60
const MODEL_ERROR_MAX = 0.2

/**
 * Processes of the service with all roles on one PostgreSQL: CPU time of service and database per
 * unit of work with one, two and four processes; the pause of a leader's work after SIGKILL; and
 * whether anything is lost or duplicated while processes are killed.
 */
export async function benchScale(
  show: (measurements: readonly Measurement[]) => void,
): Promise<readonly Measurement[]> {
  return withScaleWorld(Math.max(...COUNTS), async (world) => {
    show(await measureCosts(world))
    show(await benchTakeover(world))
    return await benchKills(world, KILLS)
  })
}

/** Unit costs of one process, in milliseconds: the median of some rounds. */
async function measureCosts(world: ScaleWorld): Promise<readonly Measurement[]> {
  const rounds: Map<number, UnitCosts>[] = []
  const predictions: Prediction[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const costs = new Map<number, UnitCosts>()
    for (const count of COUNTS) {
      const fixed = await measureFixedWork(world, count)
      const processes = await world.start(count)
      try {
        costs.set(count, { ...(await measureUnits(world, processes)), fixed })
        const [costsOfOne, costsOfTwo] = [costs.get(1), costs.get(2)]
        if (count === 4 && costsOfOne !== undefined && costsOfTwo !== undefined) {
          const { spent, load } = await measureMixed(world, processes)
          predictions.push({
            measured: spent,
            predicted: predict(fitModel(costsOfOne, costsOfTwo), load),
          })
        }
      } finally {
        await Promise.all(processes.map((child) => child.stop()))
      }
    }
    rounds.push(costs)
  }
  const all = COUNTS.flatMap((count) => [
    ...WORK_UNITS.flatMap((unit) =>
      PARTS.map((part) =>
        compared(count, `${part} CPU per ${unit}${sharing(count, unit)}`, rounds, {
          measureOf: ({ units }) => units[unit][part],
          machineOf: ({ fixed }) => fixed.divided[part],
        }),
      ),
    ),
    ...(count === 1 ? [] : EXTERNAL_UNITS).flatMap((unit) =>
      PARTS.map((part) =>
        compared(count, `${part} CPU per ${unit}, a full load each`, rounds, {
          measureOf: ({ full }) => full[unit][part],
          machineOf: ({ fixed }) => fixed.full[part],
        }),
      ),
    ),
    ...PARTS.flatMap((part) => [
      idle(
        `${count} idle: ${part} CPU, before the work`,
        rounds,
        (costs) => costs.get(count)?.rest.before[part],
      ),
      idle(
        `${count} idle: ${part} CPU, after the work`,
        rounds,
        (costs) => costs.get(count)?.rest.after[part],
      ),
    ]),
  ])
  return [...all, ...PARTS.map((part) => predicted(part, predictions))]
}

function sharing(count: number, unit: WorkUnit): string {
  const isLoaded = EXTERNAL_UNITS.some((loaded) => loaded === unit)
  return count > 1 && isLoaded ? ', the same load divided' : ''
}

interface Prediction {
  readonly measured: CpuCost
  readonly predicted: CpuCost
}

/**
 * Measures all kinds of work at once in four processes, and compares the cost with the prediction from one and two
 * processes.
 */
function predicted(part: (typeof PARTS)[number], predictions: readonly Prediction[]): Measurement {
  const ratio = median(
    predictions.map((prediction) => prediction.measured[part] / prediction.predicted[part]),
  )
  return {
    bench: 'scale',
    measure: `model: ${part} CPU of mixed work in 4 processes, beside its prediction from 1 and 2`,
    value: median(predictions.map((prediction) => prediction.measured[part])),
    unit: 'ms',
    floor: median(predictions.map((prediction) => prediction.predicted[part])),
    ratio,
    goal: 'within 20 %',
    met: Math.abs(ratio - 1) <= MODEL_ERROR_MAX,
  }
}

const PARTS = ['service', 'database'] as const

function compared(
  count: number,
  measure: string,
  rounds: readonly ReadonlyMap<number, UnitCosts>[],
  { measureOf, machineOf }: Readonly<Record<'measureOf' | 'machineOf', (of: UnitCosts) => number>>,
): Measurement {
  const valuesOf = (number: number, of: (costs: UnitCosts) => number) =>
    rounds.map((round) => {
      const costs = round.get(number)
      return costs === undefined ? Number.NaN : of(costs)
    })
  const ratioOf = (of: (costs: UnitCosts) => number) => {
    const floors = valuesOf(1, of)
    return median(valuesOf(count, of).map((value, round) => value / (floors[round] ?? Number.NaN)))
  }
  const ratio = ratioOf(measureOf)
  const isOne = count === 1
  return {
    bench: 'scale',
    measure: `${count} ${isOne ? 'process' : 'processes'}: ${measure}`,
    value: median(valuesOf(count, measureOf)),
    unit: 'ms',
    floor: isOne ? null : median(valuesOf(1, measureOf)),
    ratio: isOne ? null : ratio,
    ...(!isOne && { ratioFloor: ratioOf(machineOf) }),
    goal: isOne ? '-' : `<= ${GOAL_RATIO} of one process`,
    met: isOne || ratio <= GOAL_RATIO,
  }
}

function idle(
  measure: string,
  rounds: readonly ReadonlyMap<number, UnitCosts>[],
  costOf: (costs: ReadonlyMap<number, UnitCosts>) => number | undefined,
): Measurement {
  return {
    bench: 'scale',
    measure,
    value: median(rounds.map((costs) => costOf(costs) ?? Number.NaN)),
    unit: 'ms/s',
    floor: null,
    ratio: null,
    goal: '-',
    met: true,
  }
}
