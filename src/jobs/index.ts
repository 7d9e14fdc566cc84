import { checkMailServer } from './check-mail-server.ts'
import { countFigures } from './count-figures.ts'
import type { Job } from './define.ts'
import { deliverByOne, deliverDue } from './deliver-due.ts'
import { fetchPublications } from './fetch-publications.ts'
import { fitWatches } from './fit-watches.ts'
import { followSubmissions } from './follow-submissions.ts'
import { holdSlices } from './hold-slices.ts'
import { judgeLedgers } from './judge-ledgers.ts'
import { observeWatches } from './observe-watches.ts'
import { pollValidators } from './poll-validators.ts'
import { proveLedger } from './prove-ledger.ts'
import { prune } from './prune.ts'
import { putBackPositions } from './put-back-positions.ts'
import { raiseCanaryAlert } from './raise-canary.ts'
import { readTip } from './read-tip.ts'
import { remindExpiring } from './remind-expiring.ts'
import { renewSubscriptions } from './renew-subscriptions.ts'
import { repairDeliveryHeads } from './repair-heads.ts'
import { resealSecrets } from './reseal-secrets.ts'
import { retain } from './retain.ts'
import { returnCharges } from './return-charges.ts'
import { scanRounds } from './scan-rounds.ts'
import { sendConfirmations } from './send-confirmations.ts'
import { sendHeartbeat } from './send-heartbeat.ts'
import { sendPictures } from './send-pictures.ts'
import { sendReminders } from './send-reminders.ts'
import { sendScheduled } from './send-scheduled.ts'
import { sendSummaries } from './send-summaries.ts'
import { settleDeposits } from './settle-deposits.ts'
import { showLiveMessages } from './show-live-messages.ts'

/** Every job. */
export const REGISTRY: readonly Job[] = [
  fetchPublications,
  pollValidators,
  scanRounds,
  holdSlices,
  readTip,
  putBackPositions,
  observeWatches,
  settleDeposits,
  followSubmissions,
  judgeLedgers,
  fitWatches,
  remindExpiring,
  renewSubscriptions,
  sendReminders,
  sendSummaries,
  sendScheduled,
  deliverDue,
  deliverByOne,
  repairDeliveryHeads,
  sendPictures,
  returnCharges,
  sendConfirmations,
  checkMailServer,
  showLiveMessages,
  proveLedger,
  countFigures,
  prune,
  retain,
  resealSecrets,
  raiseCanaryAlert,
  sendHeartbeat,
]
