/** One dependency of the service: its name, and its problem, if any. */
export interface HealthCheck {
  readonly name: string
  /** Whether the service cannot work without the dependency; otherwise it is only degraded. */
  readonly isVital?: boolean
  problem(): Promise<string | undefined>
}

/** Runs all checks at once, and returns the checks that found a problem, in order. */
export async function findProblems(checks: readonly HealthCheck[]) {
  const results = await Promise.all(
    checks.map(async ({ name, isVital = false, problem }) => {
      const found = await problem()
      return found === undefined ? [] : [{ name, isVital, problem: found }]
    }),
  )
  return results.flat()
}
