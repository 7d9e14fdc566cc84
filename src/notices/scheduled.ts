/**
 * Messages that wallets ask for and that no event causes: the card of the last week, and the report of a reward epoch. Each
 * reader gets each once. What holds a reader up, such as quiet hours, a mute or a stop of the service, delays it while it
 * is due; then it is left out.
 */
import type { Db } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { listNoticeRecipients, type NoticeRecipient } from '#src/recipients/notice-recipients.ts'
import {
  DEFAULT_SETTINGS,
  listSettings,
  listWalletsWith,
  type Wanted,
} from '#src/recipients/settings.ts'
import { sendTimingOf } from '#src/recipients/timing.ts'
import { type CardSubject, listCardSubjects } from '#src/watches/manage/card-subjects.ts'
import type { ScheduledNotice } from './model.ts'
import type { Notices } from './service.ts'
import { listRecordedKeys } from './store.ts'

/** What a scheduled message needs to be sent. */
export interface ScheduleDeps {
  readonly db: Db
  readonly clock: Clock
  readonly quarantine: Quarantine
  readonly notices: Pick<Notices, 'scheduled'>
}

/** A subject of a wallet, and the reader to whom it is addressed. */
export interface Addressed {
  readonly wallet: Address
  readonly reader: NoticeRecipient
  readonly subject: CardSubject
}

/** One kind of scheduled messages, for which something is due. */
export interface Schedule {
  /** The setting that asks for it. */
  readonly wanted: Wanted
  /** Maximum number of messages for a reader: of the oldest watches, providers first. */
  readonly max: number
  /** Key of the record that a reader got the message about a subject; undefined if none is due for the reader. */
  keyOf(subject: CardSubject, reader: NoticeRecipient): string | undefined
  /** The message; undefined if nothing is known of the subject. */
  write(addressed: Addressed): Promise<ScheduledNotice | undefined>
}

const WALLETS_PER_PAGE = 100

/** Sends the due messages of a schedule to the wallets that ask for them. */
export async function sendScheduled(
  deps: ScheduleDeps,
  schedule: Schedule,
  stop: AbortSignal,
): Promise<void> {
  let after = ''
  while (!stop.aborted) {
    const wallets = await listWalletsWith(deps.db, schedule.wanted, after, WALLETS_PER_PAGE)
    const last = wallets.at(-1)
    if (last === undefined) return
    const { quarantine } = deps
    await isolateEach(
      wallets,
      { quarantine, kind: 'scheduled_notice', idOf: String },
      async (wallet) => {
        if (!stop.aborted) await sendToWallet(deps, schedule, wallet)
      },
    )
    after = last
  }
}

async function sendToWallet(
  deps: ScheduleDeps,
  schedule: Schedule,
  wallet: Address,
): Promise<void> {
  const { db, clock, notices } = deps
  const settings = (await listSettings(db, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  for (const reader of await listNoticeRecipients(db, wallet)) {
    const message = { kind: 'notice', severity: 'info', now: clock.now() } as const
    if (sendTimingOf(settings, reader, message).act !== 'send') continue
    const subjects = await listCardSubjects(db, wallet, schedule.max)
    const due = subjects.flatMap((subject) => {
      const key = schedule.keyOf(subject, reader)
      return key === undefined ? [] : [{ subject, key }]
    })
    const keys = due.map(({ key }) => key)
    const sent = await listRecordedKeys(db, reader.id, keys)
    for (const { subject, key } of due.filter((one) => !sent.has(one.key))) {
      const notice = await schedule.write({ wallet, reader, subject })
      if (notice === undefined) continue
      await db.transaction((tx) => notices.scheduled(tx, { wallet, reader, key, notice }))
    }
  }
}
