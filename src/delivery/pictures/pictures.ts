/**
 * Pictures of a provider's voting rounds, sent in reply to the messages about the start and the end of an
 * outage, where a message cannot show its picture itself (`sendPicture` of the channel). A message never waits for its
 * picture: the picture is planned when the message has arrived, and is tried once; failures are only logged.
 */
import { cardOf } from '#src/channels/card/card.ts'
import { hasEnded } from '#src/channels/card/wording.ts'
import type { Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { drawPng } from '#src/pictures/png.ts'
import { drawProvider } from '#src/pictures/provider-picture.ts'
import { type DecryptedDestination, decryptDestinations } from '#src/recipients/destinations.ts'
import { listAllRecipients } from '#src/recipients/service.ts'
import type { WatchTypeFacts } from '#src/watches/facts.ts'
import { getProviderView, type ProviderView } from '#src/watches/provider-view.ts'
import { readCurrentContent } from '../chats/chat-claims.ts'
import type { StateReader } from '../chats/chat-situation.ts'
import { findByMessageId } from '../messages/message-store.ts'
import type { SendTaskResult } from '../sending/send-task.ts'
import {
  findPicture,
  type OutagePictureRow,
  planPicture,
  takePlannedPictures,
} from './picture-store.ts'

/** Plans the pictures of messages that have just arrived. */
export async function planPictures(
  deps: { readonly channels: Channels; readonly stateOf: StateReader },
  tx: Db,
  ended: readonly SendTaskResult[],
): Promise<void> {
  for (const { task, attemptResult, at } of ended) {
    const { stored, rows, recipientId, change, channel } = task
    if (attemptResult.kind !== 'delivered' || stored?.picture === undefined) continue
    if (stored.watchId === null || deps.channels[channel].sendPicture === undefined) continue
    const messageId = change?.messageId ?? attemptResult.receipt.messageId
    const alertId = rows.find((row) => row.alertId !== null)?.alertId ?? undefined
    if (messageId === undefined || alertId === undefined) continue
    const { kind, provider, name } = stored.picture
    const about = { recipientId, watchId: stored.watchId, kind, provider, name }
    if (!(await isFirstOrLastOfOutage(deps, tx, about))) continue
    await planPicture(tx, { ...about, messageId, alertId, plannedAt: at, taken: false })
  }
}

/** Whether a picture is the first of an outage, or shows the end of an outage that had a picture. */
async function isFirstOrLastOfOutage(
  { stateOf }: { readonly stateOf: StateReader },
  tx: Db,
  about: Pick<OutagePictureRow, 'recipientId' | 'watchId' | 'kind'>,
): Promise<boolean> {
  const last = await findPicture(tx, about)
  if (about.kind === 'recovery') return last?.kind === 'outage'
  if (last?.kind !== 'outage') return true
  const state = (await stateOf(tx, [last.alertId])).get(last.alertId)
  return state === undefined || hasEnded(state)
}

interface Deps {
  readonly db: Db
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly clock: Clock
  readonly confirmations: number
  readonly log: Logger
  readonly box: SecretBox
  readonly channels: Channels
  readonly stateOf: StateReader
}

/** Age from which on a picture is not sent any more, because it would show another moment. */
const PICTURE_LATE_MS = 5 * MINUTE_MS
/** Maximum number of pictures in progress at once. */
const TAKEN_MAX = 20
const ROUNDS = 20

/** Sends planned pictures until there are none. Each is tried once; failures are only logged. */
export async function sendPictures(deps: Deps, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const taken = await takePlannedPictures(deps.db, TAKEN_MAX)
    if (taken.length === 0) return
    const drawn = createDrawings(deps)
    await Promise.all(taken.map((row) => sendPicture(deps, row, drawn, stop)))
  }
}

async function sendPicture(
  deps: Deps,
  row: OutagePictureRow,
  drawn: Drawings,
  signal: AbortSignal,
) {
  const { recipientId, watchId, alertId, messageId } = row
  try {
    const reader = await recipientOfPicture(deps, row)
    if (reader === undefined) return
    const { channel, destination, locale } = reader
    const png = await drawn(storedAddress(row.provider), row.name, locale)
    if (png === undefined || signal.aborted) return
    const caption = await headlineOf(deps, row)
    if (caption === undefined || signal.aborted) return
    const picture = { png, caption }
    await deps.channels[channel].sendPicture?.(destination, messageId, picture, { signal })
  } catch (error) {
    deps.log.warn(
      { alertId, recipientId, watchId, error: loggableError(error) },
      'picture was not sent',
    )
  }
}

/** The headline of the message as it is now; undefined if the message was deleted. */
async function headlineOf(
  deps: Deps,
  { recipientId, messageId }: OutagePictureRow,
): Promise<string | undefined> {
  const sent = await findByMessageId(deps.db, [recipientId], messageId)
  const content = sent && (await readCurrentContent(deps, sent))
  if (content === undefined) return undefined
  const { glyph, title } = cardOf(content.envelope, { state: content.state })
  return `${glyph} ${title}`.trim()
}

/**
 * The recipient of a picture; undefined if the picture is late, the recipient is off, or the recipient or
 * watch is muted.
 */
async function recipientOfPicture(
  deps: Deps,
  { recipientId, alertId, plannedAt }: OutagePictureRow,
): Promise<DecryptedDestination | undefined> {
  const now = deps.clock.now()
  if (now.getTime() - plannedAt.getTime() > PICTURE_LATE_MS) return undefined
  const opened = (await decryptDestinations(deps, [recipientId])).get(recipientId)
  if (opened?.status !== 'active') return undefined
  const readers = await listAllRecipients(deps.db, opened.wallet)
  const mutedUntil = readers.find(({ id }) => id === recipientId)?.mutedUntil ?? null
  if (mutedUntil !== null && mutedUntil > now) return undefined
  const states = await deps.stateOf(deps.db, [alertId])
  return states.get(alertId)?.muted === undefined ? opened : undefined
}

/** Draws a provider under a name for a reader; undefined if none of its rounds is known. */
type Drawings = (provider: Address, name: string, locale: Locale) => Promise<Buffer | undefined>

/** Creates drawings of the current moment, each drawn only once. */
function createDrawings(deps: Deps): Drawings {
  const views = new Map<Address, Promise<ProviderView>>()
  const drawings = new Map<string, Promise<Buffer>>()
  return async (provider, name, locale) => {
    const reading = views.get(provider) ?? getProviderView(deps, { provider, rounds: ROUNDS })
    views.set(provider, reading)
    const view = await reading
    if (view.rounds.length === 0) return undefined
    const svg = drawProvider(view, { rounds: ROUNDS, palette: 'dark', name, locale })
    const drawing = drawings.get(svg) ?? drawPng(svg)
    drawings.set(svg, drawing)
    return await drawing
  }
}
