/** A page that shows results of a scenario. */
export interface ResultPage {
  readonly label: string
  readonly href: string
}

/** A state that lasts until a person ends it. */
interface OngoingState {
  /** Description of the state. */
  readonly state: string
  /** Label of the button that ends it. */
  readonly endLabel: string
  end(): void
}

/** One button of the page, and its action on the world. */
export interface Scenario {
  readonly id: string
  readonly label: string
  /** Expected results. */
  readonly expected: string
  /** Pages that show the results. */
  readonly resultPages: readonly ResultPage[]
  /** Whether it waits for results, which a person may dismiss. */
  readonly waitsForResults?: boolean
  /** The state that lasts now, with the button that ends it; undefined if none does. */
  ongoingState?(): OngoingState | undefined
  /**
   * Runs the scenario, until no more results follow.
   *
   * @param signal aborted when the world ends, or the entry is dismissed
   * @param progress shows how far it is, until it ends
   */
  run(
    note: (text: string) => void,
    signal: AbortSignal,
    progress: (progress: ScenarioProgress) => void,
  ): Promise<void>
}

/** How far a running scenario is. */
export interface ScenarioProgress {
  /** Completed share, from 0 to 1. */
  readonly share: number
  readonly text: string
}

/** Scenarios of one kind. */
export interface ScenarioGroup {
  readonly title: string
  readonly about: string
  readonly scenarios: readonly Scenario[]
}

export const CHAT: ResultPage = { label: 'Chat', href: '/chat?person=ann' }
export const INBOX: ResultPage = { label: 'Inbox', href: '/inbox' }
export const RECEIVER: ResultPage = { label: 'Receiver', href: '/receiver' }
export const INDEX: ResultPage = { label: 'Index', href: '/' }

/** Time since an instant of `performance.now()`, such as `1.4 s`. */
export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)}\u00a0s`
}
