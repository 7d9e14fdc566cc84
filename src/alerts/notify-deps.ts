import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'

/** What notifications are made with. */
export interface NotifyDeps {
  readonly clock: Clock
  /** Where an alert goes that cannot be put into words; the others of its batch are sent. */
  readonly quarantine: Quarantine
  readonly box: SecretBox
  readonly publicUrl: string
}
