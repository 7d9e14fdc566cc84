import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import type * as operations from '../rest/settings.ts'
import type { ExamplesOf } from './define.ts'

const changed: typeof DEFAULT_SETTINGS = {
  ...DEFAULT_SETTINGS,
  timezone: 'Europe/Berlin',
  minSeverity: 'warning',
}

/** The defaults, then warnings and worse, in the time zone of Berlin. */
export const settingsExamples: ExamplesOf<typeof operations> = {
  getSettings: { response: DEFAULT_SETTINGS },
  replaceSettings: {
    request: changed,
    response: { ...changed, version: DEFAULT_SETTINGS.version + 1 },
  },
}
