import type { CpuCost, UnitCosts, WorkUnit } from './scale-units.ts'
import { TO_ONE_HOST, WORK_UNITS } from './scale-units.ts'

/** Units of work in a time span, measured or to be predicted. */
export interface WorkLoad {
  readonly processes: number
  readonly seconds: number
  readonly units: Readonly<Partial<Record<WorkUnit, number>>>
}

/**
 * CPU time as a sum: a fixed part of every second, a part of every second for each process, and a price for each
 * unit of work, which does not depend on the number of processes.
 */
export interface CostModel {
  readonly fixed: CpuCost
  readonly each: CpuCost
  readonly units: Readonly<Record<WorkUnit, CpuCost>>
}

/** Fits a model to the costs of one and of two processes. */
export function fitModel(costs: UnitCosts, two: UnitCosts): CostModel {
  const each = combine(two.idle, costs.idle, (more, less) => Math.max(0, more - less))
  return {
    each,
    fixed: combine(costs.idle, each, (all, ofOne) => Math.max(0, all - ofOne)),
    units: record((unit) => combine(costs.units[unit], two.units[unit], (a, b) => (a + b) / 2)),
  }
}

/** CPU time of a load in milliseconds. */
export function predict(model: CostModel, { processes, seconds, units }: WorkLoad): CpuCost {
  const resting = combine(
    model.fixed,
    model.each,
    (fixed, each) => (fixed + each * processes) * seconds,
  )
  return WORK_UNITS.reduce(
    (sum, unit) =>
      combine(sum, model.units[unit], (all, price) => all + price * (units[unit] ?? 0)),
    resting,
  )
}

function combine(first: CpuCost, second: CpuCost, of: (a: number, b: number) => number): CpuCost {
  return {
    service: of(first.service, second.service),
    database: of(first.database, second.database),
  }
}

function record(priceOf: (unit: WorkUnit) => CpuCost): Record<WorkUnit, CpuCost> {
  return {
    'evaluated target': priceOf('evaluated target'),
    alert: priceOf('alert'),
    delivery: priceOf('delivery'),
    [TO_ONE_HOST]: priceOf(TO_ONE_HOST),
    'metered call': priceOf('metered call'),
  }
}
