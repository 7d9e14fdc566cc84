import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'

/** What is needed to notify recipients of alerts. */
export interface NotifyDeps {
  readonly clock: Clock
  readonly log: Logger
  /** Quarantine for alerts that cannot be rendered; the others of their batch are sent. */
  readonly quarantine: Quarantine
  readonly box: SecretBox
  readonly publicUrl: string
}
