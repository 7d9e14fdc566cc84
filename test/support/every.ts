import { expect } from 'vitest'

type Arguments<Row> = [Row] extends [readonly unknown[]] ? Row : [Row]

/**
 * Checks each row of a list, one after another, and fails with the errors of all rows that do not pass. One guarantee
 * about many rows is one test. A row that is a list is passed as several arguments, as `test.each` does. There is
 * at least one row.
 */
export async function every<const Row>(
  rows: readonly Row[],
  check: (...row: Arguments<Row>) => unknown,
): Promise<void> {
  expect(rows).not.toHaveLength(0)
  const faults: unknown[] = []
  for (const row of rows) {
    const values = (Array.isArray(row) ? row : [row]) as unknown as Arguments<Row>
    try {
      await check(...values)
    } catch (error) {
      const name = String(JSON.stringify(values[0])).slice(0, 200)
      faults.push(new Error(`${name}: ${String(error)}`, { cause: error }))
    }
  }
  if (faults.length === 1) throw faults[0]
  if (faults.length > 1) throw new AggregateError(faults, faults.map(String).join('\n\n'))
}
