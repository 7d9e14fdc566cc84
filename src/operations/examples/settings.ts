import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import type * as maintenance from '../rest/maintenance.ts'
import type * as operations from '../rest/settings.ts'
import type { ExamplesOf } from './define.ts'
import { MAINTENANCE } from './story.ts'

const { maintenance: _, ...defaults } = DEFAULT_SETTINGS
const changed = { ...defaults, timezone: 'Europe/Berlin', minSeverity: 'warning' } as const

/** The defaults, then warnings and worse, in the time zone of Berlin. */
export const settingsExamples: ExamplesOf<typeof operations> = {
  getSettings: { response: { ...defaults, maintenance: [] } },
  replaceSettings: {
    request: changed,
    response: { ...changed, maintenance: [], version: DEFAULT_SETTINGS.version + 1 },
  },
}

const { id, name, from, until } = MAINTENANCE

/** An hour in which a node is upgraded. */
export const maintenanceExamples: ExamplesOf<typeof maintenance> = {
  createMaintenance: {
    request: { name, minutes: 60, from },
    response: { id, name, watchIds: null, from, until, repeat: null },
  },
}
