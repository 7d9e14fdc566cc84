import type { Clock } from '#src/kernel/clock.ts'
import { type ChangeHub, createChangeHub } from './change-hub.ts'
import { type Chats, createChats } from './chat-store.ts'
import { createFaults, type Faults } from './faults.ts'
import { createFiles, type Files } from './files.ts'
import { createFloodLimits, type FloodLimits } from './flood-limits.ts'
import { createMessages, type Messages } from './messages.ts'
import type { BotAccount, Call } from './model.ts'
import { createBotProfile, type Profile } from './profile.ts'
import { createQueries, type Queries } from './queries.ts'
import { createPoller, createUpdates, type Poller, type Updates } from './updates.ts'
import { createWebhook, type Webhook } from './webhook.ts'

/** State of the server. */
export interface Backend {
  readonly bot: BotAccount
  readonly token: string
  readonly clock: Clock
  readonly changes: ChangeHub
  readonly chats: Chats
  readonly messages: Messages
  readonly files: Files
  readonly updates: Updates
  readonly poller: Poller
  readonly webhook: Webhook
  readonly profile: Profile
  readonly queries: Queries
  readonly faults: Faults
  /** Undefined when flood limits are off. */
  readonly rates: FloodLimits | undefined
  readonly calls: CallLog
}

/** Calls of the bot, newest last. */
interface CallLog {
  all(): readonly Call[]
  add(call: Omit<Call, 'sequence'>): void
}

const CALLS_KEPT = 5000

/** Creates the state of one bot. */
export function createBackend(options: {
  readonly token: string
  readonly username: string
  readonly firstName: string
  readonly clock: Clock
  readonly rates: boolean
  readonly webhookPauseMs: number
}): Backend {
  const { clock, token } = options
  const bot = {
    id: Number.parseInt(token, 10),
    firstName: options.firstName,
    username: options.username,
  }
  const changes = createChangeHub()
  const updates = createUpdates({ clock, changes })
  return {
    bot,
    token,
    clock,
    changes,
    updates,
    chats: createChats(changes),
    messages: createMessages({ clock, changes }),
    files: createFiles(),
    poller: createPoller(updates),
    webhook: createWebhook({ clock, updates, firstPauseMs: options.webhookPauseMs }),
    profile: createBotProfile(bot, changes),
    queries: createQueries({ clock, changes }),
    faults: createFaults(),
    rates: options.rates ? createFloodLimits(clock) : undefined,
    calls: createCallLog(changes),
  }
}

function createCallLog(changes: ChangeHub): CallLog {
  const calls: Call[] = []
  let sequence = 0
  return {
    all: () => calls,
    add(callData) {
      const call = { ...callData, sequence: ++sequence }
      calls.push(call)
      if (calls.length > CALLS_KEPT) calls.shift()
      changes.emit({ kind: 'call', call })
    },
  }
}
