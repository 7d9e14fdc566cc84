/** A measured figure, and the figure of its floor in the same run. */
export interface Measurement {
  readonly bench: string
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** The floor's figure in the same unit; null where there is none. */
  readonly floor: number | null
  /** value / floor. */
  readonly ratio: number | null
  /** The ratio of fixed work in the same run, which only the machine determines. */
  readonly ratioFloor?: number
  /** The goal as text. */
  readonly goal: string
  readonly met: boolean
}

/** Formats measurements as a table, followed by one JSON line per measurement. */
export function report(measurements: readonly Measurement[]): string {
  const hasRatioFloors = measurements.some(({ ratioFloor }) => ratioFloor !== undefined)
  const rows = measurements.map((measurement) => [
    `${measurement.bench}: ${measurement.measure}`,
    `${round(measurement.value)} ${measurement.unit}`,
    measurement.floor === null ? '–' : `${round(measurement.floor)} ${measurement.unit}`,
    measurement.ratio === null ? '–' : measurement.ratio.toFixed(2),
    ...(hasRatioFloors ? [measurement.ratioFloor?.toFixed(2) ?? '–'] : []),
    measurement.goal,
    measurement.met ? 'met' : 'NOT MET',
  ])
  const heads = ['measure', 'value', 'floor', 'ratio', ...(hasRatioFloors ? ['ratio floor'] : [])]
  const table = [[...heads, 'goal', ''], ...rows]
  const widths = table[0]?.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  const lines = table.map((row) => row.map((cell, i) => cell.padEnd(widths?.[i] ?? 0)).join('  '))
  return [...lines, ...measurements.map((measurement) => JSON.stringify(measurement))].join('\n')
}

/** The middle value; of an even number the mean of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (upper + lower) / 2
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
