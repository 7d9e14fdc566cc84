/** Groups of numbers by name of the group; the name says the unit. */
export type HealthFigures = Readonly<Record<string, Readonly<Record<string, number>>>>

/** The check of one dependency of the service. */
export interface HealthCheck {
  readonly name: string
  /** Whether the service cannot work without the dependency. Without other dependencies the service is degraded. */
  readonly isVital?: boolean
  /** Returns the problem in words; undefined if there is none. */
  findProblem(): Promise<string | undefined>
  /** Figures about the dependency: groups of numbers, by name of the group. */
  readFigures?(): Promise<HealthFigures>
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

/** Reads the figures of all checks. Those that cannot be read are left out. */
export async function readFigures(checks: readonly HealthCheck[]): Promise<HealthFigures> {
  const figures = await Promise.all(checks.map((check) => check.readFigures?.().catch(() => ({}))))
  return Object.assign({}, ...figures)
}
