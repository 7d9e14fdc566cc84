/** The check of one dependency of the service. */
export interface HealthCheck {
  readonly name: string
  /** Whether the service cannot work without the dependency. Without other dependencies the service is degraded. */
  readonly isVital?: boolean
  /** Returns the problem in words; undefined if there is none. */
  findProblem(): Promise<string | undefined>
}

/** Runs all checks at once, and returns the checks that found a problem, in order. */
export async function findProblems(checks: readonly HealthCheck[]) {
  const results = await Promise.all(
    checks.map(async ({ name, isVital = false, findProblem }) => {
      const problem = await findProblem()
      return problem === undefined ? [] : [{ name, isVital, problem }]
    }),
  )
  return results.flat()
}
