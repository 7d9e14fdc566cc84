import type { Feature } from '../core/feature.ts'
import { alertActionsFeature } from './alerts/action-handlers.ts'
import { alertsFeature } from './alerts/history-handlers.ts'
import { channelFeature } from './channel/handlers.ts'
import { connectFeature } from './connect/handlers.ts'
import { exampleFeature } from './example/handlers.ts'
import { fallbackFeature } from './fallback/handlers.ts'
import { followFeature } from './follow/handlers.ts'
import { groupFeature } from './group/handlers.ts'
import { createHelpFeature } from './help/handlers.ts'
import { createLanguageFeature } from './language/handlers.ts'
import { lookUpFeature } from './look-up/handlers.ts'
import { maintenanceFeature } from './maintenance/handlers.ts'
import { membershipFeature } from './membership/handlers.ts'
import { muteFeature } from './mute/handlers.ts'
import { newFeature } from './new/handlers.ts'
import { notesFeature } from './notes/handlers.ts'
import { providerFeature } from './provider/handlers.ts'
import { recipientAddFeature } from './recipients/add.ts'
import { groupSetupFeature } from './recipients/group.ts'
import { recipientsFeature } from './recipients/handlers.ts'
import { recipientStateFeature } from './recipients/state.ts'
import { watchSelectionFeature } from './recipients/watch-selection.ts'
import { settingsFeature } from './settings/handlers.ts'
import { signalsFeature } from './signals/handlers.ts'
import { slotsFeature } from './slots/handlers.ts'
import { startFeature } from './start/handlers.ts'
import { statusFeature } from './status/handlers.ts'
import { stopFeature } from './stop/handlers.ts'
import { termsFeature } from './terms/handlers.ts'
import { topicFeature } from './topic/handlers.ts'
import { topupFeature } from './topup/handlers.ts'
import { walletsFeature } from './wallets/handlers.ts'
import { watchEditFeature } from './watches/edit.ts'
import { watchesFeature } from './watches/handlers.ts'
import { watchPeopleFeature } from './watches/people.ts'
import { watchTestFeature } from './watches/test.ts'

/** Every feature of the bot, in the order of handling; the last feature handles all other updates. */
export const REGISTRY: readonly Feature[] = [
  followFeature,
  providerFeature,
  startFeature,
  exampleFeature,
  connectFeature,
  walletsFeature,
  alertActionsFeature,
  notesFeature,
  newFeature,
  watchesFeature,
  watchEditFeature,
  signalsFeature,
  watchPeopleFeature,
  watchTestFeature,
  alertsFeature,
  statusFeature,
  lookUpFeature,
  topupFeature,
  slotsFeature,
  termsFeature,
  recipientsFeature,
  recipientAddFeature,
  groupSetupFeature,
  channelFeature,
  recipientStateFeature,
  watchSelectionFeature,
  settingsFeature,
  muteFeature,
  maintenanceFeature,
  createLanguageFeature(() => REGISTRY),
  createHelpFeature(() => REGISTRY),
  stopFeature,
  topicFeature,
  groupFeature,
  membershipFeature,
  fallbackFeature,
]
