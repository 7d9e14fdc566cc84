import { findLastProof } from '#src/billing/account/proof.ts'
import { readBacklog } from '#src/delivery/service.ts'
import type { Reading } from '#src/http/internal.ts'
import type { JobApp } from '#src/jobs/define.ts'
import { readProgress } from '#src/watches/observe/progress.ts'

/** Metrics of the last proof of the ledger. */
export function ledgerReadings({ db }: Pick<JobApp, 'db'>): readonly Reading[] {
  return [
    {
      name: 'watchdog_ledger_wrong_wallets',
      help: 'Wallets whose entries did not add up to their balance in the last proof of the ledger.',
      read: async () => (await findLastProof(db))?.wrongWallets,
    },
    {
      name: 'watchdog_ledger_proved_timestamp_seconds',
      help: 'When the ledger was proved last.',
      read: async () => {
        const proof = await findLastProof(db)
        return proof && proof.provedAt.getTime() / 1000
      },
    },
  ]
}

/** Metric of quarantined rows. */
export function quarantineReading({ quarantine }: Pick<JobApp, 'quarantine'>): Reading {
  return {
    name: 'watchdog_quarantined_rows_total',
    help: 'Rows set aside by this process because they could not be processed, by kind.',
    labels: ['kind'],
    read: async () =>
      quarantine.read().map(({ kind, rows }) => ({ labels: { kind }, value: rows })),
  }
}

/** Metrics of the delivery. */
export function deliveryReadings({ db, clock, tally }: JobApp): readonly Reading[] {
  const backlog = () => readBacklog(db, clock.now())
  return [
    {
      name: 'watchdog_deliveries_due',
      help: 'Deliveries that are due and not sent yet.',
      labels: ['channel'],
      read: async () =>
        (await backlog()).map(({ channel, due }) => ({ labels: { channel }, value: due })),
    },
    {
      name: 'watchdog_deliveries_oldest_due_seconds',
      help: 'How long the longest waiting delivery has been due.',
      labels: ['channel'],
      read: async () =>
        (await backlog()).map(({ channel, oldestAt }) => ({
          labels: { channel },
          value: Math.max(0, clock.now().getTime() - oldestAt.getTime()) / 1000,
        })),
    },
    {
      name: 'watchdog_delivery_attempts_total',
      help: 'Attempts to send by this process, by what came of them.',
      labels: ['channel', 'outcome'],
      read: async () =>
        tally.read().map(({ attempts, ...labels }) => ({ labels, value: attempts })),
    },
  ]
}

/** Metrics of the chain's reading, of evaluation and of jobs. */
export function workReadings({ db, clock, jobFigures }: JobApp): readonly Reading[] {
  const ageOf = (at: Date) => Math.max(0, clock.now().getTime() - at.getTime()) / 1000
  return [
    {
      name: 'watchdog_chain_head_block',
      help: 'Number of the newest block with the confirmations asked for.',
      read: async () => (await readProgress(db)).head?.block,
    },
    {
      name: 'watchdog_chain_head_age_seconds',
      help: 'Age of the newest block with the confirmations asked for.',
      read: async () => {
        const { head } = await readProgress(db)
        return head && ageOf(head.at)
      },
    },
    {
      name: 'watchdog_evaluation_age_seconds',
      help: 'Time since the watches of a type were evaluated up to a newer block.',
      labels: ['type'],
      read: async () =>
        (await readProgress(db)).types.flatMap(({ type, observedAt }) =>
          observedAt === null ? [] : { labels: { type }, value: ageOf(observedAt) },
        ),
    },
    {
      name: 'watchdog_job_runs_total',
      help: 'Runs of a job in this process, by result.',
      labels: ['job', 'result'],
      read: async () =>
        jobFigures.read().flatMap(({ job, succeeded, failed }) => [
          { labels: { job, result: 'success' }, value: succeeded },
          { labels: { job, result: 'failure' }, value: failed },
        ]),
    },
    {
      name: 'watchdog_job_last_run_seconds',
      help: 'Duration of the last run of a job in this process.',
      labels: ['job'],
      read: async () =>
        jobFigures.read().map(({ job, lastMs }) => ({ labels: { job }, value: lastMs / 1000 })),
    },
    {
      name: 'watchdog_job_success_timestamp_seconds',
      help: 'When a run of a job in this process succeeded last.',
      labels: ['job'],
      read: async () =>
        jobFigures
          .read()
          .flatMap(({ job, succeededAt }) =>
            succeededAt === undefined
              ? []
              : { labels: { job }, value: succeededAt.getTime() / 1000 },
          ),
    },
  ]
}
