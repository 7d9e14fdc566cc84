import { alertActsFeature } from './alert-acts.ts'
import { alertsFeature } from './alerts.ts'
import { connectFeature } from './connect.ts'
import type { Feature } from './define.ts'
import { exampleFeature } from './example.ts'
import { fallbackFeature } from './fallback.ts'
import { createHelpFeature } from './help.ts'
import { createLanguageFeature } from './language.ts'
import { membershipFeature } from './membership.ts'
import { muteFeature } from './mute.ts'
import { newFeature } from './new.ts'
import { providerFeature } from './provider.ts'
import { recipientAddFeature } from './recipient-add.ts'
import { recipientStateFeature } from './recipient-state.ts'
import { recipientsFeature } from './recipients.ts'
import { settingsFeature } from './settings.ts'
import { signalsFeature } from './signals.ts'
import { slotsFeature } from './slots.ts'
import { startFeature } from './start.ts'
import { statusFeature } from './status.ts'
import { stopFeature } from './stop.ts'
import { termsFeature } from './terms.ts'
import { topicFeature } from './topic.ts'
import { topupFeature } from './topup.ts'
import { walletsFeature } from './wallets.ts'
import { watchEditFeature } from './watch-edit.ts'
import { watchPeopleFeature } from './watch-people.ts'
import { watchTestFeature } from './watch-test.ts'
import { watchesFeature } from './watches.ts'

/** Everything the bot can do, in the order it is tried; the last one takes what is left. */
export const REGISTRY: readonly Feature[] = [
  providerFeature,
  startFeature,
  exampleFeature,
  connectFeature,
  walletsFeature,
  alertActsFeature,
  newFeature,
  watchesFeature,
  watchEditFeature,
  signalsFeature,
  watchPeopleFeature,
  watchTestFeature,
  alertsFeature,
  statusFeature,
  topupFeature,
  slotsFeature,
  termsFeature,
  recipientsFeature,
  recipientAddFeature,
  recipientStateFeature,
  settingsFeature,
  muteFeature,
  createLanguageFeature(() => REGISTRY),
  createHelpFeature(() => REGISTRY),
  stopFeature,
  topicFeature,
  membershipFeature,
  fallbackFeature,
]
