/** Where to look for what follows. */
export interface ScenarioReading {
  readonly label: string
  readonly href: string
}

/** What goes on until somebody ends it. */
interface Lasting {
  /** A sentence that says so. */
  readonly state: string
  /** On the button that ends it. */
  readonly endLabel: string
  end(): void
}

/** One button of the page, and what it does to the world. */
export interface Happening {
  readonly id: string
  readonly label: string
  /** What should follow. */
  readonly follows: string
  readonly look: readonly ScenarioReading[]
  /** Whether it ends by waiting for what follows, which somebody may get tired of. */
  readonly waits?: boolean
  /** Set while it lasts. */
  lasting?(): Lasting | undefined
  /**
   * Lets it happen. Comes to its end when nothing more follows.
   *
   * @param signal the world ends, or nobody waits for what follows any more
   */
  run(note: (text: string) => void, signal: AbortSignal): Promise<void>
}

/** Happenings of one kind. */
export interface HappeningGroup {
  readonly title: string
  readonly about: string
  readonly happenings: readonly Happening[]
}

export const CHAT: ScenarioReading = { label: 'Chat', href: '/chat?person=ann' }
export const INBOX: ScenarioReading = { label: 'Inbox', href: '/inbox' }
export const RECEIVER: ScenarioReading = { label: 'Receiver', href: '/receiver' }
export const INDEX: ScenarioReading = { label: 'Index', href: '/' }

/** The time since an instant of `performance.now()`, such as `1.4 s`. */
export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)}\u00a0s`
}
