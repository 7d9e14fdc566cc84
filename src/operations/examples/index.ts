import { accountExamples } from './account.ts'
import { alertExamples } from './alerts.ts'
import { authExamples } from './auth.ts'
import { channelExamples } from './channels.ts'
import type { OperationExample } from './define.ts'
import { discoveryExamples } from './discovery.ts'
import { messageExamples } from './message-preview.ts'
import { providerExamples } from './providers.ts'
import { recipientExamples } from './recipients.ts'
import { maintenanceExamples, settingsExamples } from './settings.ts'
import { statsExamples } from './stats.ts'
import { subscriptionExamples } from './subscriptions.ts'
import { topupExamples } from './topups.ts'
import { watchExamples } from './watches.ts'

/** Examples of all operations by id, for a service at this URL. They tell one story, see `story.ts`. */
export function examplesAt(publicUrl: string): Readonly<Record<string, OperationExample>> {
  return {
    ...accountExamples,
    ...alertExamples(),
    ...authExamples(publicUrl),
    ...channelExamples,
    ...messageExamples(publicUrl),
    ...discoveryExamples(publicUrl),
    ...providerExamples,
    ...recipientExamples,
    ...settingsExamples,
    ...maintenanceExamples,
    ...statsExamples,
    ...subscriptionExamples,
    ...topupExamples(publicUrl),
    ...watchExamples,
  }
}
