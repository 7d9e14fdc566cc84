import type { CpuCost, UnitCosts, WorkUnit } from './scale-units.ts'
import { TO_ONE_HOST, WORK_UNITS } from './scale-units.ts'

/** Units of work in a time span, measured or to be predicted. */
export interface WorkLoad {
  readonly processes: number
  readonly seconds: number
  readonly units: Readonly<Partial<Record<WorkUnit, number>>>
}

/** Units that a statement of one process has with a full load, of metered calls: what `bench -- scale` prints. */
const UNITS_OF_STATEMENT = 9

/** A part that does not depend on the number of processes, and a part that grows with it. */
interface Price {
  readonly fixed: CpuCost
  readonly growing: CpuCost
}

/** Of one second: a process that rests costs the same beside others. */
const PER_PROCESS = (processes: number) => processes
/**
 * Of one unit: processes that share a load make their own statements. With fewer units in each, they make more for a
 * unit, and at most one.
 */
const PER_STATEMENT = (processes: number) => processes / (processes + UNITS_OF_STATEMENT - 1)

/** CPU time as a sum: a price of every second, and of every unit of work. */
export interface CostModel {
  readonly second: Price
  readonly units: Readonly<Record<WorkUnit, Price>>
}

/** Fits a model to the costs of one and of two processes, of the same load. */
export function fitModel(one: UnitCosts, two: UnitCosts): CostModel {
  return {
    second: fitPrice(one.idle, two.idle, PER_PROCESS),
    units: record((unit) => fitPrice(one.units[unit], two.units[unit], PER_STATEMENT)),
  }
}

function fitPrice(one: CpuCost, two: CpuCost, growth: (processes: number) => number): Price {
  const step = growth(2) - growth(1)
  const growing = combine(one, two, (less, more) => Math.max(0, more - less) / step)
  return { growing, fixed: combine(one, growing, (all, part) => all - part * growth(1)) }
}

/** CPU time of a load in milliseconds. */
export function predict(model: CostModel, { processes, seconds, units }: WorkLoad): CpuCost {
  const costOf = (price: Price, count: number, growth: (processes: number) => number) =>
    combine(price.fixed, price.growing, (fixed, part) => (fixed + part * growth(processes)) * count)
  return WORK_UNITS.reduce(
    (sum, unit) =>
      combine(
        sum,
        costOf(model.units[unit], units[unit] ?? 0, PER_STATEMENT),
        (all, cost) => all + cost,
      ),
    costOf(model.second, seconds, PER_PROCESS),
  )
}

function combine(first: CpuCost, second: CpuCost, of: (a: number, b: number) => number): CpuCost {
  return {
    service: of(first.service, second.service),
    database: of(first.database, second.database),
  }
}

function record(priceOf: (unit: WorkUnit) => Price): Record<WorkUnit, Price> {
  return {
    'evaluated target': priceOf('evaluated target'),
    alert: priceOf('alert'),
    delivery: priceOf('delivery'),
    [TO_ONE_HOST]: priceOf(TO_ONE_HOST),
    'metered call': priceOf('metered call'),
  }
}
