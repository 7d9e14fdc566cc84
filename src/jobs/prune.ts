import { pruneFollowers } from '#src/alerts/followers/followers.ts'
import { pruneBudgets } from '#src/alerts/notify/budget.ts'
import { pruneSignIns } from '#src/auth/service.ts'
import { pruneFreeCalls } from '#src/billing/metering/service.ts'
import { pruneTopups } from '#src/billing/topups/service.ts'
import { prunePaces } from '#src/channels/telegram/pace.ts'
import { pruneReceived } from '#src/delivery/receiver/receiver.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { pruneNotices } from '#src/notices/service.ts'
import { pruneAnswers } from '#src/operations/gate/idempotency.ts'
import { pruneCounts } from '#src/operations/gate/limits.ts'
import { pruneConfirmations } from '#src/recipients/confirmations.ts'
import { pruneConnectCodes } from '#src/recipients/connect.ts'
import { pruneLinkCodes } from '#src/recipients/telegram-link.ts'
import { pruneTargets } from '#src/watches/manage/retention.ts'
import type { Job } from './define.ts'

/** Deletes data that is older than its retention. */
export const prune: Job = {
  name: 'prune',
  role: 'watcher',
  everyMs: () => HOUR_MS,
  needsAgreedClocks: true,
  run: async (app) => {
    await pruneSignIns(app)
    await pruneConfirmations(app)
    await pruneConnectCodes(app)
    await pruneLinkCodes(app)
    await pruneAnswers(app)
    await pruneCounts(app)
    await prunePaces(app)
    await pruneReceived(app)
    await pruneFreeCalls(app)
    await pruneTopups(app)
    await app.facts.prune()
    await pruneFollowers(app)
    await pruneTargets(app)
    await pruneNotices(app)
    await pruneBudgets(app)
  },
}
