/**
 * What quiet hours, digests and mutes held back, told in one message when its time has come. Taking what
 * is held and writing the summary are one transaction: each message is told once, whatever dies, and
 * after a stop by the first who looks.
 */
import type { Envelope, Message, MessageButton } from '#src/channels/define.ts'
import { isRecovery } from '#src/channels/wording.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { HeldDelivery } from '#src/delivery/model.ts'
import * as delivery from '#src/delivery/service.ts'
import { formatDateTime, formatTime } from '#src/i18n/format.ts'
import { type Translate, translator } from '#src/i18n/translate.ts'
import * as recipients from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { digestPeriodAt, type Period, quietPeriodAt, timingOf } from '#src/recipients/timing.ts'
import { worstOf } from './episodes.ts'
import type { Reader } from './render.ts'
import * as store from './store.ts'
import type { TellDeps } from './tell.ts'

/** Recipients looked for at once. */
const AT_ONCE = 200
const DAY_MS = 86_400_000

type Deps = TellDeps & { readonly db: Db }

/** Why messages were held, which the title says. */
export type Reason = 'quiet' | 'digest' | 'muted'

const GLYPHS: Readonly<Record<Reason, string>> = { quiet: '☀️', digest: '🗂', muted: '🔕' }

/** Sends a summary to everybody for whom something is held that may be told now. */
export async function sendSummaries(deps: Deps, signal: AbortSignal): Promise<void> {
  for (let after = 0; !signal.aborted; ) {
    const page = { after, limit: AT_ONCE }
    const ids = await delivery.listHolding(deps.db, deps.clock.now(), page)
    for (const id of ids) {
      if (signal.aborted) return
      await transact(deps.db, (tx) => summarize(deps, tx, id))
    }
    const last = ids.at(-1)
    if (last === undefined || ids.length < AT_ONCE) return
    after = last
  }
}

async function summarize(deps: Deps, tx: Db, recipientId: number): Promise<void> {
  const now = deps.clock.now()
  const recipient = (await recipients.findReaders(tx, [recipientId])).get(recipientId)
  if (recipient === undefined) {
    // Nobody is left to be told: what was held is over.
    await delivery.dropHeld(tx, recipientId)
    return
  }
  const { wallet } = recipient
  const settings = (await listSettings(tx, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  const timing = timingOf(settings, recipient, { kind: 'notice', severity: 'info', now })
  if (timing.act === 'hold') {
    // It was muted since, or its quiet hours changed.
    await delivery.retimeHeld(tx, recipientId, timing.until)
    return
  }
  const held = await delivery.takeHeld(tx, recipientId, now)
  const [first] = held
  if (first === undefined) return
  const about = { wallet, recipientId, channel: recipient.channel, lane: recipient.lane }
  const plain = { ...about, position: 0, createdAt: now, status: 'pending' } as const
  const notices = held.filter(isNotice)
  const messages = held.filter((one) => !isNotice(one))
  const wakes = recipient.mutedUntil
  const summaries =
    messages.length === 0
      ? []
      : [await summaryOf(deps, tx, { messages, reader: recipient, settings, wakes, now })]
  // A notice has buttons of its own, so it comes by itself.
  const alone = notices.map((notice) => ({ ...notice, toldIn: delivery.newDeliveryId(now) }))
  await delivery.noteTold(tx, [
    ...alone.map(({ id, toldIn }) => ({ id, toldIn })),
    ...summaries.flatMap(({ deliveryId: toldIn }) => messages.map(({ id }) => ({ id, toldIn }))),
  ])
  await delivery.enqueue(tx, [
    ...alone.map(({ envelope, firedAt, toldIn: id }) => {
      const orderKey = `${recipientId} held ${id}`
      return {
        ...plain,
        id,
        alertId: null,
        orderKey,
        firedAt,
        envelope: { ...envelope, deliveryId: id },
      }
    }),
    ...summaries.map((envelope) => ({
      ...plain,
      id: envelope.deliveryId,
      alertId: null,
      orderKey: `${recipientId} summary`,
      firedAt: now,
      envelope,
    })),
  ])
}

function isNotice({ envelope }: HeldDelivery): boolean {
  return envelope.kind === 'notice'
}

async function summaryOf(
  deps: Deps,
  tx: Db,
  input: {
    readonly messages: readonly HeldDelivery[]
    readonly reader: Reader
    readonly settings: Settings
    /** When the reader was to hear nothing at all before. */
    readonly wakes: Date | null
    readonly now: Date
  },
): Promise<Envelope> {
  const { messages, reader, settings, wakes, now } = input
  const ids = messages.flatMap(({ alertId }) => alertId ?? [])
  const rows = await store.listByIds(tx, ids)
  const firing = new Set(
    rows.flatMap(({ id, isEpisode, recoveredAt }) =>
      isEpisode && recoveredAt === null ? [id] : [],
    ),
  )
  const recovered = new Set(
    rows.flatMap(({ id, isEpisode, recoveredAt }) => (isEpisode && recoveredAt ? [id] : [])),
  )
  const reason = reasonOf(settings, wakes, messages, now)
  const period = periodOf(reason, { settings, timezone: reader.timezone, messages, wakes, now })
  const all = messages.map(({ envelope }) => envelope.message)
  const items = inOrder(all, firing, reason === 'digest')
  const t = translator(reader.locale)
  const deliveryId = delivery.newDeliveryId(now)
  return {
    deliveryId,
    type: null,
    signal: null,
    group: null,
    data: {
      glyph: GLYPHS[reason],
      reason,
      from: period.from.toISOString(),
      to: period.to.toISOString(),
    },
    locale: reader.locale,
    timezone: reader.timezone,
    kind: 'summary',
    message: {
      alertId: null,
      watchId: null,
      watchLabel: null,
      event: 'summary',
      severity: worstOf(items.map(({ severity }) => severity)),
      ...wording(t, { reason, period, items, recovered, reader }),
      fields: [],
      link: newest(all)?.link ?? `${deps.publicUrl}/`,
      firedAt: now.toISOString(),
      test: false,
    },
    items: items.map((item) => ({ ...item, body: '', fields: [] })),
    buttons: buttons(t, reason),
  }
}

/** Whose page a summary leads to. */
function newest(messages: readonly Message[]): Message | undefined {
  return messages.toSorted((a, b) => a.firedAt.localeCompare(b.firedAt)).at(-1)
}

/** Still firing first, then as it happened; a digest puts what is of one watch together. */
function inOrder(
  messages: readonly Message[],
  firing: ReadonlySet<number>,
  byWatch: boolean,
): readonly Message[] {
  const isFiring = ({ alertId }: Message) => alertId !== null && firing.has(alertId)
  const place = new Map<number | null, number>()
  for (const { watchId } of messages) place.set(watchId, place.get(watchId) ?? place.size)
  const watch = ({ watchId }: Message) => (byWatch ? (place.get(watchId) ?? 0) : 0)
  return messages.toSorted(
    (a, b) => Number(isFiring(b)) - Number(isFiring(a)) || watch(a) - watch(b),
  )
}

function wording(
  t: Translate,
  about: {
    readonly reason: Reason
    readonly period: Period
    readonly items: readonly Message[]
    readonly recovered: ReadonlySet<number>
    readonly reader: Reader
  },
): Pick<Message, 'title' | 'body'> {
  const { reason, items, recovered } = about
  const alerts = items.filter(({ event }) => !isRecovery(event))
  const count = alerts.length
  const over = alerts.filter(({ alertId }) => alertId !== null && recovered.has(alertId)).length
  const period = periodText(t, about.period, about.reader)
  const counted = t('units:alerts', { count })
  return {
    title:
      reason === 'digest'
        ? t('messages:summary.digest', { period, count })
        : t(`messages:summary.${reason}`, { period }),
    body:
      over === 0
        ? t('messages:summary.count', { alerts: counted })
        : t('messages:summary.countRecovered', { alerts: counted, count: over }),
  }
}

/** Times of the day; with their days where it is longer than one. */
function periodText(t: Translate, { from, to }: Period, { timezone }: Reader): string {
  const isShort = to.getTime() - from.getTime() < DAY_MS
  const text = (at: Date) =>
    isShort
      ? formatTime(at, t.locale, timezone)
      : formatDateTime(at, t.locale, timezone, { offset: false, year: false })
  return t('messages:summary.period', { from: text(from), to: text(to) })
}

function reasonOf(
  settings: Settings,
  wakes: Date | null,
  messages: readonly HeldDelivery[],
  now: Date,
): Reason {
  const oldest = messages[0]?.envelope.message.firedAt ?? now.toISOString()
  // The mute ended last: its end is what was waited for.
  if (wakes !== null && wakes <= now && wakes > new Date(oldest)) return 'muted'
  return settings.digest === 'off' ? 'quiet' : 'digest'
}

/** What the summary is about: the quiet hours, the time of the digest, or all since the first message. */
function periodOf(
  reason: Reason,
  about: {
    readonly settings: Settings
    readonly timezone: string
    readonly messages: readonly HeldDelivery[]
    readonly wakes: Date | null
    readonly now: Date
  },
): Period {
  const { settings, timezone, messages, wakes, now } = about
  const times = messages.map(({ firedAt }) => firedAt.getTime())
  const first = new Date(Math.min(now.getTime(), ...times))
  const last = new Date(Math.max(first.getTime(), ...times))
  if (reason === 'muted') return { from: first, to: wakes ?? now }
  const { digest, digestAt, quietHours } = settings
  if (reason === 'digest' && digest !== 'off') {
    const around = (at: Date) => digestPeriodAt(digest, digestAt, timezone, at)
    const end = around(new Date(now.getTime() - 1))
    const to = end.to <= now ? end.to : end.from
    return { from: around(first).from, to: to > last ? to : now }
  }
  const quiet = quietPeriodAt(quietHours, timezone, first)
  return { from: quiet?.from ?? first, to: quietPeriodAt(quietHours, timezone, last)?.to ?? now }
}

/** The list of all alerts of the day, and where one changes what is held. */
function buttons(t: Translate, reason: Reason): readonly (readonly MessageButton[])[] {
  const second =
    reason === 'digest'
      ? { label: t('messages:button.settings'), act: '1:settings' }
      : { label: t('messages:button.menu'), act: '1:home' }
  return [[{ label: t('messages:button.open'), act: '1:alert.list:aad:' }], [second]]
}
