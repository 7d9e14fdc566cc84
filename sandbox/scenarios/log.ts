import type { ScenarioProgress } from './define.ts'

/** A started scenario, with its results so far. */
export interface ScenarioLogEntry {
  /** Counts from 1. */
  readonly id: number
  /** Id of the scenario. */
  readonly scenarioId: string
  readonly at: Date
  readonly label: string
  readonly notes: readonly string[]
  /** How far it is; undefined if it does not show that, and after its end. */
  readonly progress?: ScenarioProgress | undefined
  /** `going`: more results may follow. */
  readonly state: 'going' | 'over' | 'failed'
  /** Whether it waits for results, until a person dismisses it. */
  readonly waitsForResults: boolean
}

/** Log entry of a running scenario. */
interface OpenEntry {
  readonly id: number
  note(text: string): void
  /** Shows how far it is. */
  advance(progress: ScenarioProgress): void
  /** Ends it. */
  close(): void
  /** Ends it with an error. */
  fail(problem: string): void
}

/** Entries, oldest first. */
export interface ScenarioLog {
  readonly entries: readonly ScenarioLogEntry[]
  open(scenarioId: string, label: string, waitsForResults: boolean): OpenEntry
  /** Calls the listener after every change until the returned function is called. */
  subscribe(listener: () => void): () => void
  announce(): void
}

/** Number of entries of the log; older ones are dropped. */
const ENTRIES_MAX = 200

/** An empty log. */
export function createScenarioLog(now: () => Date): ScenarioLog {
  const entries: ScenarioLogEntry[] = []
  const listeners = new Set<() => void>()
  let count = 0
  const announce = () => {
    for (const listener of listeners) listener()
  }
  const change = (id: number, changed: (entry: ScenarioLogEntry) => Partial<ScenarioLogEntry>) => {
    const index = entries.findIndex((entry) => entry.id === id)
    const entry = entries[index]
    if (entry === undefined) return
    entries[index] = { ...entry, ...changed(entry) }
    announce()
  }
  return {
    entries,
    open: (scenarioId, label, waitsForResults) => {
      count += 1
      const id = count
      entries.push({ id, scenarioId, at: now(), label, notes: [], state: 'going', waitsForResults })
      if (entries.length > ENTRIES_MAX) entries.shift()
      announce()
      const add = (text: string) => change(id, ({ notes }) => ({ notes: [...notes, text] }))
      return {
        id,
        note: add,
        advance: (progress) => change(id, () => ({ progress })),
        close: () => change(id, () => ({ state: 'over', progress: undefined })),
        fail: (problem) => {
          add(problem)
          change(id, () => ({ state: 'failed', progress: undefined }))
        },
      }
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    announce,
  }
}
