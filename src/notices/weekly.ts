/**
 * Sends the cards of the last week, on Monday morning of each reader. What holds a reader up, such as quiet hours, a mute
 * or a stop of the service, delays a card until Tuesday night; then it is left out.
 */
import type { Db } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WeeklyCard } from '#src/pictures/weekly-card.ts'
import { listNoticeRecipients, type NoticeRecipient } from '#src/recipients/notice-recipients.ts'
import { DEFAULT_SETTINGS, listSettings, listWeeklyWallets } from '#src/recipients/settings.ts'
import { sendTimingOf } from '#src/recipients/timing.ts'
import { dueWeek, isAnyWeekDue, type ReaderWeek } from '#src/recipients/week.ts'
import type { WatchTypeFacts } from '#src/watches/facts.ts'
import { type CardSubject, listCardSubjects } from '#src/watches/manage/card-subjects.ts'
import { countWeek } from '#src/watches/week-counts.ts'
import type { Notices } from './service.ts'
import { listRecordedKeys } from './store.ts'
import { weeklyKey } from './weekly-link.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly facts: Pick<WatchTypeFacts, 'rounds'>
  readonly quarantine: Quarantine
  readonly notices: Pick<Notices, 'weekly'>
  /** Number of incidents of a watch in a span. */
  readonly countIncidents: (
    db: Db,
    watch: { readonly wallet: Address; readonly watchId: number },
    span: { readonly from: Date; readonly to: Date },
  ) => Promise<number>
}

const WALLETS_PER_PAGE = 100
/** Maximum number of cards that a reader gets in a week: of the oldest watches, providers first. */
const CARDS_MAX = 3

/** Sends the cards that are due. A reader gets each card once. */
export async function sendWeeklyCards(deps: Deps, stop: AbortSignal): Promise<void> {
  if (!isAnyWeekDue(deps.clock.now())) return
  let after = ''
  while (!stop.aborted) {
    const wallets = await listWeeklyWallets(deps.db, after, WALLETS_PER_PAGE)
    const last = wallets.at(-1)
    if (last === undefined) return
    const { quarantine } = deps
    await isolateEach(
      wallets,
      { quarantine, kind: 'weekly_card', idOf: String },
      async (wallet) => {
        if (!stop.aborted) await sendToWallet(deps, wallet)
      },
    )
    after = last
  }
}

async function sendToWallet(deps: Deps, wallet: Address): Promise<void> {
  const { db, clock, notices } = deps
  const settings = (await listSettings(db, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  for (const reader of await listNoticeRecipients(db, wallet)) {
    const now = clock.now()
    const week = dueWeek(now, reader.timezone)
    const message = { kind: 'notice', severity: 'info', now } as const
    if (week === undefined || sendTimingOf(settings, reader, message).act !== 'send') continue
    for (const subject of await freshSubjects(db, wallet, { reader, week })) {
      const card = await cardOf(deps, { wallet, subject, reader, week })
      const { watchId } = subject
      await db.transaction((tx) => notices.weekly(tx, { wallet, reader, watchId, card }))
    }
  }
}

/** What a reader has not got a card of yet. */
async function freshSubjects(
  db: Db,
  wallet: Address,
  { reader, week }: { readonly reader: NoticeRecipient; readonly week: ReaderWeek },
): Promise<readonly CardSubject[]> {
  const subjects = await listCardSubjects(db, wallet, CARDS_MAX)
  const keyOf = ({ watchId }: CardSubject) => weeklyKey(watchId, week.firstDay)
  const sent = await listRecordedKeys(db, reader.id, subjects.map(keyOf))
  return subjects.filter((subject) => !sent.has(keyOf(subject)))
}

async function cardOf(
  { db, facts, countIncidents }: Deps,
  {
    wallet,
    subject,
    reader,
    week,
  }: {
    readonly wallet: Address
    readonly subject: CardSubject
    readonly reader: NoticeRecipient
    readonly week: ReaderWeek
  },
): Promise<WeeklyCard> {
  const { starts, firstDay } = week
  const [from, to] = [starts[0], starts.at(-1)]
  if (from === undefined || to === undefined) throw new Error('a week has days')
  const { watchId, address, balance, isProvider, label } = subject
  const incidents = await countIncidents(db, { wallet, watchId }, { from, to })
  const rounds = isProvider ? await facts.rounds.verdictsBetween(address, { from, to }) : undefined
  return {
    locale: reader.locale,
    name: label,
    address,
    firstDay,
    incidents,
    ...(rounds && { provider: countWeek(starts.slice(0, -1), rounds) }),
    ...(balance && { balance }),
  }
}
