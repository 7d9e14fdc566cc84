import { CHATS } from './chats.ts'
import type { BotApiMethod } from './define.ts'
import { EDITING } from './editing.ts'
import { PROFILE } from './profile.ts'
import { QUERIES } from './queries.ts'
import { SENDING } from './sending.ts'
import { UPDATES } from './updates.ts'

/** All methods of the Bot API that the sandbox implements. */
export const REGISTRY: readonly BotApiMethod[] = [
  ...UPDATES,
  ...SENDING,
  ...EDITING,
  ...QUERIES,
  ...CHATS,
  ...PROFILE,
]
