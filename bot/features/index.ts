import type { Feature } from './define.ts'
import { fallbackFeature } from './fallback.ts'
import { createHelpFeature } from './help.ts'
import { createLanguageFeature } from './language.ts'
import { membershipFeature } from './membership.ts'
import { startFeature } from './start.ts'
import { watchesFeature } from './watches.ts'

/** Everything the bot can do, in the order it is tried; the last one takes what is left. */
export const REGISTRY: readonly Feature[] = [
  startFeature,
  watchesFeature,
  createLanguageFeature(() => REGISTRY),
  createHelpFeature(() => REGISTRY),
  membershipFeature,
  fallbackFeature,
]
