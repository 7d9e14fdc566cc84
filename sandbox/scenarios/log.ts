import type { ScenarioProgress } from './define.ts'

/** A started scenario, with its results so far. */
export interface ScenarioLogEntry {
  /** Counts from 1. */
  readonly id: number
  /** Name of the scenario. */
  readonly scenario: string
  readonly at: Date
  readonly what: string
  readonly notes: readonly string[]
  /** While it is going, if it shows it. */
  readonly progress?: ScenarioProgress | undefined
  /** going: more may follow. */
  readonly state: 'going' | 'over' | 'failed'
  /** Whether it waits for results, until a person dismisses it. */
  readonly waits: boolean
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
  open(scenario: string, what: string, waits: boolean): OpenEntry
  /** Calls the listener after every change until the returned function is called. */
  subscribe(listener: () => void): () => void
  announce(): void
}

const KEPT = 200

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
    open: (scenario, what, waits) => {
      count += 1
      const id = count
      entries.push({ id, scenario, at: now(), what, notes: [], state: 'going', waits })
      if (entries.length > KEPT) entries.shift()
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
