import postgres from 'postgres'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { openDb } from '#src/db/connection.ts'

/** A node of a plan as PostgreSQL ran it. Rows are those of one loop. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string | undefined
  readonly 'Index Name'?: string | undefined
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number | undefined
  readonly 'Rows Removed by Index Recheck'?: number | undefined
  /** Pages of a node and of all below it that were in PostgreSQL's memory. */
  readonly 'Shared Hit Blocks'?: number | undefined
  /** Pages that were not, and were read from the disk or the memory of the operating system. */
  readonly 'Shared Read Blocks'?: number | undefined
  readonly Plans?: readonly PlanNode[] | undefined
}

const PlanNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Relation Name': z.string().optional(),
    'Index Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    'Rows Removed by Index Recheck': z.number().optional(),
    'Shared Hit Blocks': z.number().optional(),
    'Shared Read Blocks': z.number().optional(),
    Plans: z.array(PlanNode).optional(),
  }),
)

const Explained = z.object({ 'Query Text': z.string(), Plan: PlanNode })

/** A statement that ran, with its plan. */
export interface RunStatement {
  readonly text: string
  readonly plan: PlanNode
}

/** A database whose statements are explained as they run, with the parameters and the plan that they had. */
export interface ExplainedDatabase {
  readonly db: Db
  /** Runs `work` and returns its statements, in the order in which they ended. */
  record(work: () => Promise<unknown>): Promise<readonly RunStatement[]>
  close(): Promise<void>
}

/** Opens one connection on which PostgreSQL explains each statement. The user must be a superuser. */
export function openExplained(url: string): ExplainedDatabase {
  let ran: RunStatement[] = []
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: ({ message = '' }) => {
      const at = message.indexOf('{')
      if (!message.includes('plan:') || at < 0) return
      const { 'Query Text': text, Plan: plan } = Explained.parse(JSON.parse(message.slice(at)))
      ran.push({ text, plan })
    },
    connection: {
      TimeZone: 'UTC',
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0ms',
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_buffers': 'on',
      'auto_explain.log_format': 'json',
      'auto_explain.log_level': 'notice',
    },
  })
  const { db, end } = openDb(sql, { max: 1, waitMs: 30_000, answerMs: 0 })
  return {
    db,
    record: async (work) => {
      ran = []
      await work()
      return ran
    },
    close: async () => {
      await end()
      await sql.end({ timeout: 1 })
    },
  }
}

/** A node and all below it. */
export function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** Rows that a plan read from tables and indexes, including rows that a condition removed. */
export function rowsRead(plan: PlanNode): number {
  return nodesOf(plan).reduce((sum, node) => sum + readBy(node), 0)
}

function readBy(node: PlanNode): number {
  const isScan = node['Relation Name'] !== undefined || node['Index Name'] !== undefined
  if (!isScan || node['Node Type'] === 'ModifyTable') return 0
  const dropped =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (node['Actual Rows'] + dropped) * node['Actual Loops']
}

/** Most rows that a node of the plan sorted. */
export function rowsSorted(plan: PlanNode): number {
  const sorts = nodesOf(plan).filter((node) => node['Node Type'].endsWith('Sort'))
  const below = sorts.flatMap(({ Plans = [] }) => Plans)
  return Math.max(0, ...below.map((node) => node['Actual Rows']))
}

/** Tables that the plan read from end to end and that have rows. */
export function tablesScanned(plan: PlanNode): readonly string[] {
  return nodesOf(plan).flatMap((node) =>
    node['Node Type'].endsWith('Seq Scan') && readBy(node) > 0 ? (node['Relation Name'] ?? []) : [],
  )
}
