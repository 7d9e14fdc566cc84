/** Alerts that a recipient missed while its destination was off. Those that are over are not sent one by one. */
import { packed } from '#src/actions/codec.ts'
import { REGISTRY as CHANNELS, type ChannelKey, type Channels } from '#src/channels/index.ts'
import { plainEnvelope } from '#src/channels/plain-envelope.ts'
import { type Db, transact } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { lockRecipient, type RecipientFields, readRecipientsById } from '#src/recipients/service.ts'
import * as store from '../store.ts'

const GLYPH = '📭'
/** List of the alerts that a destination may have missed. */
const ALERTS_OF_THE_WEEK = packed('alert.list', {
  filter: { time: '7d', watchId: undefined },
  cursor: undefined,
})

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly quarantine: Quarantine
}

/** What a recipient missed. */
export interface Missed {
  /** Messages that are sent as they are. */
  readonly count: number
  /** Alerts that are over, whose number one message states. */
  readonly over: number
}

/** What a recipient of the wallet missed. */
export async function readMissed(deps: Deps, caller: Caller, recipientId: number): Promise<Missed> {
  const reader = (await readRecipientsById(deps.db, [recipientId])).get(recipientId)
  const { count, over } = await missedOf(deps, caller, recipientId, reader?.channel)
  return { count, over }
}

/**
 * Sends what `readMissed` counts.
 *
 * @throws the errors of `sendRetained` in `delivery/service.ts`
 */
export async function sendMissed(
  deps: Deps & {
    readonly box: SecretBox
    readonly channels: Channels
    readonly publicUrl: string
  },
  caller: Caller,
  recipientId: number,
): Promise<Missed> {
  return await transact(deps.db, async (tx) => {
    const inside = { ...deps, db: tx }
    // Two requests at once would both send the summary.
    const reader = await lockRecipient(tx, recipientId)
    const { over, deliveryIds } = await missedOf(inside, caller, recipientId, reader?.channel)
    const count = await delivery.sendRetained(inside, caller, recipientId, deliveryIds)
    if (reader === undefined || over === 0) return { count, over }
    const summary = summaryFor(deps, reader, over)
    await delivery.recordSummarized(
      tx,
      deliveryIds.map((id) => ({ id, summaryDeliveryId: summary.id })),
    )
    await delivery.enqueue(tx, [summary])
    return { count, over }
  })
}

/** Counts what a recipient missed, with the ids of the deliveries about alerts that are over. */
async function missedOf(
  deps: Deps,
  caller: Caller,
  recipientId: number,
  channel: ChannelKey | undefined,
): Promise<Missed & { readonly deliveryIds: readonly string[] }> {
  const retained = await delivery.listRetained(deps, caller, recipientId)
  const isRead = channel !== undefined && !CHANNELS[channel].isProgrammatic
  // Programs get each alert and each recovery.
  if (!isRead) return { count: retained.length, over: 0, deliveryIds: [] }
  const ids = retained.flatMap(({ alertId, recoveryOf }) =>
    alertId === null || recoveryOf !== null ? [] : [alertId],
  )
  const alerts = ids.length === 0 ? [] : await store.listAlertsByIds(deps.db, ids)
  const over = alerts.filter(({ isEpisode, recoveredAt }) => isEpisode && recoveredAt !== null)
  const overIds = new Set(over.map(({ id }) => id))
  const deliveryIds = retained
    .filter(({ alertId, recoveryOf }) => overIds.has(recoveryOf ?? alertId ?? 0))
    .map(({ deliveryId }) => deliveryId)
  // An alert whose severity was raised is one alert.
  const episodes = new Set(over.map(({ id, increaseOf }) => increaseOf ?? id))
  return { count: retained.length - deliveryIds.length, over: episodes.size, deliveryIds }
}

/** The message that states how many alerts are over. */
function summaryFor(
  { clock, publicUrl }: { readonly clock: Clock; readonly publicUrl: string },
  { id: recipientId, wallet, channel, partitionKey, locale, timezone }: RecipientFields,
  count: number,
): delivery.NewDelivery {
  const now = clock.now()
  const t = translator(locale)
  const id = delivery.newDeliveryId(now)
  return {
    id,
    wallet,
    alertId: null,
    recipientId,
    channel,
    partitionKey,
    orderKey: `${recipientId} missed`,
    firedAt: now,
    position: 0,
    envelope: plainEnvelope(
      { locale, timezone },
      { deliveryId: id, at: now },
      {
        kind: 'summary',
        event: 'summary',
        severity: 'info',
        title: t('messages:missed.over', { count }),
        body: '',
        data: { glyph: GLYPH },
        link: `${publicUrl}/`,
        buttons: [[{ label: t('messages:button.open'), act: ALERTS_OF_THE_WEEK }]],
      },
    ),
    createdAt: now,
    status: 'pending',
  }
}
