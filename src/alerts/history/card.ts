import { randomUUID } from 'node:crypto'
import type { Envelope, MessageState, OpenPart } from '#src/channels/envelope.ts'
import type { Db } from '#src/db/connection.ts'
import type { StateReader } from '#src/delivery/chats/chat-situation.ts'
import type { ChatMessageState } from '#src/delivery/service.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type ActedAlert, alertStatus } from '../acknowledge/alert-action.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import { outageSeconds, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import type { Alert } from '../model.ts'
import { dataFor, recordedFromRow, renderRecordedAlert } from '../recorded-alert.ts'
import * as store from '../store.ts'
import { type ReadDeps, toAlert } from './history.ts'

/** One alert with everything a chat shows. */
export interface AlertCard {
  /** The alert; `durationSeconds` is the length of its outage. */
  readonly alert: Alert
  readonly status: ActedAlert
  /** The message as it would be sent now, with the link of the chat. */
  readonly envelope: Envelope
  readonly state: MessageState
}

/**
 * One alert of the wallet, in the reader's language and time zone.
 *
 * @param of `recipientId`: the wallet's recipient that sees the alert. Whether the link in the message may
 * act is decided when it is used: the link of a group may only read
 * @throws AppError not_found
 */
export async function getAlert(
  deps: ReadDeps & { readonly clock: Clock },
  caller: Caller,
  {
    id,
    reader,
    recipientId,
  }: { readonly id: number; readonly reader: Reader; readonly recipientId: number | null },
): Promise<AlertCard> {
  const row = await store.findAlert(deps.db, id)
  if (row === undefined || row.wallet !== caller.wallet) {
    throw new AppError('not_found', 'not_found')
  }
  const deliveries = await delivery.listForAlerts(deps.db, [id])
  const states = await messageStates(deps, [id])
  const outage = (await readOutages(deps.db, [row])).get(id)
  const [current = row] = await withCurrentFigures(deps.db, [row])
  const { type, signal, group, data } = recordedFromRow(current)
  const { locale, timezone } = reader
  const message = renderRecordedAlert(deps, current, reader, recipientId)
  const startedAt = row.startedAt?.toISOString()
  const shown = { data: dataFor(reader, data), locale, timezone }
  const place = { type, signal, group, ...shown, ...(startedAt && { startedAt }) }
  return {
    alert: {
      ...toAlert(deps, current, reader, deliveries.get(id) ?? []),
      durationSeconds: outage === undefined ? null : outageSeconds(outage),
    },
    status: await alertStatus(deps, caller, id),
    envelope: { deliveryId: randomUUID(), ...place, message },
    state: { ...states.get(id), shownAt: deps.clock.now() },
  }
}

/**
 * Current content of a message of a chat, with one alert or several; undefined when the message contains no
 * alert of the wallet, or is no longer stored.
 *
 * @param recipientId the chat, as the wallet's recipient
 * @param messageId id of the message in the chat
 */
export async function findMessage(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  { recipientId, messageId }: { readonly recipientId: number; readonly messageId: string },
): Promise<ChatMessageState | undefined> {
  const stateOf: StateReader = (db, alertIds) => messageStates({ ...deps, db }, alertIds)
  const message = await delivery.findMessage({ db: deps.db, stateOf }, [recipientId], messageId)
  return message?.wallet === caller.wallet ? message : undefined
}

/** `findMessage` after something was opened below the message; null closes it. */
export async function openPartOf(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  input: {
    readonly recipientId: number
    readonly messageId: string
    readonly part: OpenPart | null
  },
): Promise<ChatMessageState | undefined> {
  const { recipientId, messageId, part } = input
  if ((await findMessage(deps, caller, input)) === undefined) return undefined
  await delivery.setOpenPart(deps.db, [recipientId], messageId, part)
  return await findMessage(deps, caller, input)
}
