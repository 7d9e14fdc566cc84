import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import type * as operations from '../settings.ts'
import type { ExamplesOf } from './define.ts'

const changed = {
  ...DEFAULT_SETTINGS,
  timezone: 'Europe/Berlin',
  quietHours: { ...DEFAULT_SETTINGS.quietHours, enabled: true },
}

/** What holds at first, then quiet nights in Berlin. */
export const settingsExamples: ExamplesOf<typeof operations> = {
  getSettings: { response: DEFAULT_SETTINGS },
  replaceSettings: {
    request: changed,
    response: { ...changed, version: DEFAULT_SETTINGS.version + 1 },
  },
}
