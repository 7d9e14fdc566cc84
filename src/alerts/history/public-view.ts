/** The page of an alert behind a signed link: its content, and the actions that the link allows. */
import { z } from 'zod'
import { alertHeading } from '#src/channels/card/heading.ts'
import { helpFormOf } from '#src/channels/card/transfer.ts'
import type { EnvelopeMessage, MessageState } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { pastWords } from '#src/channels/updates/recovered.ts'
import type { DeliveryEntry } from '#src/delivery/model.ts'
import * as delivery from '#src/delivery/service.ts'
import { type SignalHelp, signalHelp } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { Address, storedAddress } from '#src/kernel/units.ts'
import { type RecipientFields, readRecipientsById } from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings } from '#src/recipients/settings.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { canBeProven, recoveryRoleOf } from '#src/watches/events.ts'
import { readAlertLink } from '../alert-urls.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import { outageSeconds, readOutages } from '../messages/outage-times.ts'
import type { AlertState } from '../model.ts'
import { dataFor, recordedFromRow, renderRecordedAlert } from '../recorded-alert.ts'
import { isOpenEpisode } from '../rules.ts'
import * as store from '../store.ts'
import { type ReadDeps, stateOf } from './history.ts'
import { type IncidentPage, readIncidentPage } from './incident-page.ts'
import {
  describeOthers,
  listAlertsAround,
  listAlertsOfIncident,
  type OtherAlert,
} from './other-alerts.ts'

/** Time after the alert during which its link allows actions. */
const ACTING_MS = 7 * DAY_MS

/** Length of the 20 newest voting rounds, which a page shows. */
const NEWEST_ROUNDS_MS = 30 * MINUTE_MS

type Deps = ReadDeps & { readonly clock: Clock }

/** An alert as its own page shows it. */
export interface LinkedAlertPage {
  readonly message: EnvelopeMessage
  /** The first line of the message: the name of its watch, and what happened. */
  readonly heading: string
  readonly locale: Locale
  readonly timezone: string
  readonly state: AlertState
  /** Start of the outage; the time of an alert that nothing ends. */
  readonly startedAt: Date
  /** End of the outage; null while the alert is open. */
  readonly recoveredAt: Date | null
  /** Time at which the watch was deleted while the alert was open. */
  readonly closedAt: Date | null
  /** End of the outage, or of the watch, or of an event without a recovery that is past; null while the alert is open. */
  readonly endedAt: Date | null
  readonly durationSeconds: number | null
  readonly acknowledged: { readonly at: Date; readonly by: string | null } | null
  readonly note: NonNullable<MessageState['note']> | null
  /**
   * Time at which further recipients are notified unless the alert is acknowledged; null: never, or already
   * done.
   */
  readonly escalatesAt: Date | null
  /**
   * Time at which further recipients were notified, and their names. The names are left out unless the link is
   * personal.
   */
  readonly escalated: NonNullable<MessageState['escalated']> | null
  /** End of the alert's mute in chats and mailboxes. */
  readonly muted: MessageState['muted'] | null
  /** Whether the alert is open until its signal recovers, and can be muted until then. */
  readonly isOpen: boolean
  readonly help: SignalHelp
  /** Whether the alert is about a data provider, and has a page of evidence. */
  readonly hasEvidence: boolean
  /** Identity address of the alert's data provider. */
  readonly provider: Address | null
  /**
   * Deliveries of the alert. Recipients are named, by label or masked destination, only if the link is
   * personal, never for a group.
   */
  readonly deliveries: readonly (DeliveryEntry & { readonly to: string | null })[]
  /** Time at which each recipient got the alert first, in order; recipients of its escalation are left out. */
  readonly sentAt: readonly Date[]
  /**
   * Other alerts of the watch that were meant for the link's recipient; empty for a link without a
   * recipient.
   */
  readonly others: readonly OtherAlert[]
  /** The incident, if it has several alerts for the link's recipient; `others` has the alerts outside of it. */
  readonly incident: IncidentPage | undefined
  /** Number of the incident. */
  readonly incidentId: number
  /**
   * What may be done about the incident: `over` nothing, `open` acknowledge, `taken` unacknowledge. An alert that
   * nothing ends is never over.
   */
  readonly incidentState: 'over' | 'open' | 'taken'
  /** Whether the link may acknowledge and mute, by POST. */
  readonly mayAct: boolean
}

/**
 * Reads the alert behind a signed link, in the language of the link's recipient.
 *
 * @returns undefined for a forged link, or when the alert was deleted
 */
export async function readLinkedAlertPage(
  deps: Deps,
  code: string,
  locale?: Locale,
): Promise<LinkedAlertPage | undefined> {
  const linked = await findLinkedAlert(deps, code)
  if (linked === undefined) return undefined
  const { row, recipient } = linked
  const wallet = storedAddress(row.wallet)
  const reader =
    recipient ?? (await listSettings(deps.db, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  const { timezone } = reader
  const language = locale ?? reader.locale
  const state = (await messageStates(deps, [row.id])).get(row.id) ?? {}
  const outage = (await readOutages(deps.db, [row])).get(row.id) ?? { from: row.firedAt, to: null }
  const isNamed = recipient !== undefined && isPersonal(recipient)
  const [current = row] = await withCurrentFigures(deps.db, [row])
  const shown = { locale: language, timezone, isGroup: isGroupId(recipient?.chatId ?? 0) }
  const around = recipient === undefined ? [] : await listAlertsAround(deps, row, recipient.id)
  const parts =
    recipient === undefined
      ? { rows: [row], isCut: false }
      : await listAlertsOfIncident(deps, row, recipient.id)
  const whole = await readIncidentPage(deps, parts, { reader: shown, isNamed })
  const message = shownMessage(renderRecordedAlert(deps, current, shown), state, shown)
  const data = dataFor(shown, recordedFromRow(current).data)
  return {
    message,
    heading: alertHeading({ data, message, locale: language }),
    locale: language,
    timezone,
    state: stateOf(row),
    startedAt: outage.from,
    recoveredAt: outage.to,
    closedAt: state.closedAt ?? null,
    endedAt: outage.to ?? state.closedAt ?? pastEvent(row, deps.clock.now()),
    durationSeconds: outageSeconds(outage),
    acknowledged: state.acknowledged ?? null,
    note: state.note ?? null,
    escalatesAt: isWaiting(row) ? row.escalateAt : null,
    escalated: state.escalated ? { ...state.escalated, ...(!isNamed && { to: [] }) } : null,
    muted: state.muted ?? null,
    isOpen: isOpenEpisode(row),
    help: signalHelp(translator(language), { ...row, form: helpFormOf(row.event, data) }),
    hasEvidence: canBeProven(row.event),
    provider: providerOf(row),
    deliveries: await listDeliveries(deps, row.id, isNamed),
    sentAt: await listSent(deps, row),
    others: await describeOthers(
      deps,
      around.filter(({ id }) => whole?.ids.has(id) !== true),
      shown,
    ),
    incident: whole,
    incidentId: row.incidentId,
    incidentState: incidentStateOf(parts.rows),
    mayAct: mayAct(row, recipient, deps.clock.now()),
  }
}

/** What may be done about an incident with these alerts. */
function incidentStateOf(alerts: readonly store.AlertRow[]): LinkedAlertPage['incidentState'] {
  const open = alerts.filter(
    ({ event, recoveredAt }) => recoveredAt === null && !recoveryRoleOf(event).isRecovery,
  )
  if (open.length === 0) return 'over'
  return open.every(({ acknowledgedAt }) => acknowledgedAt !== null) ? 'taken' : 'open'
}

/** The message as the page shows it: that of an alert that has recovered is past, its values stay. */
function shownMessage(
  message: EnvelopeMessage,
  { recoveredAt, recovery, lostRounds: rounds }: MessageState,
  reader: { readonly locale: Locale; readonly timezone: string },
): EnvelopeMessage {
  if (recoveredAt === undefined || message.isRecovery) return message
  // The page says when and after how long it recovered.
  const title = recovery?.(reader)?.title
  const known = title === undefined ? undefined : { title }
  return { ...message, ...pastWords({ message, locale: reader.locale }, known, { rounds }) }
}

/** Time of an event that nothing ends, once the newest voting rounds of a page are all later; before that null. */
function pastEvent({ event, firedAt }: store.AlertRow, now: Date): Date | null {
  const isPast = now.getTime() - firedAt.getTime() > NEWEST_ROUNDS_MS
  return isPast && !recoveryRoleOf(event).canRecover ? firedAt : null
}

/** Whether it is open and not acknowledged. */
function isWaiting(row: store.AlertRow): boolean {
  return isOpenEpisode(row) && row.acknowledgedAt === null
}

/** Whether this service signed a link, even if its alert was deleted since. */
export function isAlertLink(box: SecretBox, code: string): boolean {
  return readAlertLink(box, code) !== undefined
}

/** The person for whom a link acts, and the alert. */
export interface LinkedActor {
  readonly caller: Caller
  readonly alertId: number
  readonly watchId: number
  /** Name of the recipient. */
  readonly by: string
}

/**
 * Finds the actor of a link; undefined when the link may only read: it belongs to a group, a webhook or no
 * recipient, its recipient is off, or its alert is older than seven days.
 */
export async function findLinkedActor(deps: Deps, code: string): Promise<LinkedActor | undefined> {
  const linked = await findLinkedAlert(deps, code)
  if (linked?.recipient === undefined) return undefined
  const { row, recipient } = linked
  if (!mayAct(row, recipient, deps.clock.now())) return undefined
  return {
    caller: { wallet: recipient.wallet, scopes: ['read', 'write'], via: 'page' },
    alertId: row.id,
    watchId: row.watchId,
    by: nameOf(recipient),
  }
}

interface LinkedAlert {
  readonly row: store.AlertRow
  readonly recipient: RecipientFields | undefined
}

/** Finds the alert and the recipient of a link; undefined for a forged link or a deleted alert. */
export async function findLinkedAlert(
  deps: Pick<Deps, 'db' | 'box'>,
  code: string,
): Promise<LinkedAlert | undefined> {
  const link = readAlertLink(deps.box, code)
  const row = link && (await store.findAlert(deps.db, link.alertId))
  if (link === undefined || row === undefined) return undefined
  const { recipientId } = link
  if (recipientId === null) return { row, recipient: undefined }
  return { row, recipient: (await readRecipientsById(deps.db, [recipientId])).get(recipientId) }
}

function mayAct(row: store.AlertRow, recipient: RecipientFields | undefined, now: Date): boolean {
  if (recipient === undefined || recipient.wallet !== row.wallet) return false
  const isFresh = now.getTime() - row.createdAt.getTime() < ACTING_MS
  return isFresh && recipient.status === 'active' && isPersonal(recipient)
}

/** Whether the recipient belongs to one person, and is not a read-only chat. */
function isPersonal({ channel, chatId, chatScopes }: RecipientFields): boolean {
  const mayWrite = chatId === null || (chatScopes ?? []).includes('write')
  return mayWrite && CHANNELS[channel].isPersonal(chatId)
}

async function listSent(
  { db }: Pick<Deps, 'db'>,
  { id, escalatedTo }: store.AlertRow,
): Promise<readonly Date[]> {
  const reached = await delivery.listReachedRecipients(db, id)
  return reached.flatMap(({ recipientId, at }) => (escalatedTo?.includes(recipientId) ? [] : [at]))
}

async function listDeliveries(
  deps: Pick<Deps, 'db'>,
  alertId: number,
  isNamed: boolean,
): Promise<LinkedAlertPage['deliveries']> {
  const entries = (await delivery.listForAlerts(deps.db, [alertId])).get(alertId) ?? []
  if (!isNamed) return entries.map((entry) => ({ ...entry, to: null }))
  const names = await readRecipientsById(
    deps.db,
    entries.map(({ recipientId }) => recipientId),
  )
  return entries.map((entry) => {
    const recipient = names.get(entry.recipientId)
    return { ...entry, to: recipient === undefined ? null : nameOf(recipient) }
  })
}

function nameOf({ name, target }: RecipientFields): string {
  return name ?? target
}

const AboutProvider = z.looseObject({ provider: Address })

function providerOf({ type, data }: store.AlertRow): Address | null {
  if (type !== 'provider-fsp') return null
  return AboutProvider.safeParse(data).data?.provider ?? null
}
