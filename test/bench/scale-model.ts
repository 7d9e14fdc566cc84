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

/** A part that does not depend on the number of processes, and a part that is multiplied by `growth`. */
interface Price {
  readonly fixed: CpuCost
  readonly growing: CpuCost
  growth(processes: number): number
}

/** The number of processes: one that rests costs the same beside others. */
const perProcess = (processes: number) => processes
/** Statements for a unit, at most one: processes that share a load make their own, with fewer units in each. */
const perStatement = (processes: number) => processes / (processes + UNITS_OF_STATEMENT - 1)

/** CPU time as a sum: a price of every second, and of every unit of work. */
export interface CostModel {
  readonly second: Price
  readonly units: Readonly<Record<WorkUnit, Price>>
}

/** Fits a model to the costs of one and of two processes, of the same load. */
export function fitModel(one: UnitCosts, two: UnitCosts): CostModel {
  return {
    second: fitPrice(one.idle, two.idle, perProcess),
    units: record((unit) => fitPrice(one.units[unit], two.units[unit], perStatement)),
  }
}

function fitPrice(one: CpuCost, two: CpuCost, growth: Price['growth']): Price {
  const step = growth(2) - growth(1)
  const growing = combine(one, two, (less, more) => Math.max(0, more - less) / step)
  return { growing, fixed: combine(one, growing, (all, part) => all - part * growth(1)), growth }
}

/** CPU time of a load in milliseconds. */
export function predict(model: CostModel, { processes, seconds, units }: WorkLoad): CpuCost {
  const costOf = ({ fixed, growing, growth }: Price, count: number) =>
    combine(fixed, growing, (base, part) => (base + part * growth(processes)) * count)
  return WORK_UNITS.reduce(
    (sum, unit) =>
      combine(sum, costOf(model.units[unit], units[unit] ?? 0), (all, cost) => all + cost),
    costOf(model.second, seconds),
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
