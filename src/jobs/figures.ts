import type { Clock } from '#src/kernel/clock.ts'

/** What this process's runs of one job came to. */
interface JobFigure {
  readonly job: string
  readonly succeeded: number
  readonly failed: number
  readonly succeededAt: Date | undefined
}

/** Counts runs of jobs in this process, for the operator. */
export interface JobFigures {
  count(job: string, isSuccess: boolean): void
  /** Every job that ran since the process started. */
  read(): readonly JobFigure[]
}

/** Creates figures without any run. */
export function createJobFigures({ clock }: { readonly clock: Clock }): JobFigures {
  const figures = new Map<string, JobFigure>()
  return {
    count(job, isSuccess) {
      const before = figures.get(job)
      figures.set(job, {
        job,
        succeeded: (before?.succeeded ?? 0) + (isSuccess ? 1 : 0),
        failed: (before?.failed ?? 0) + (isSuccess ? 0 : 1),
        succeededAt: isSuccess ? clock.now() : before?.succeededAt,
      })
    },
    read: () => [...figures.values()],
  }
}
