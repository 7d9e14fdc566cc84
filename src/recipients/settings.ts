import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { textFormat } from '#src/kernel/text-format.ts'
import { type Address, ID_MAX } from '#src/kernel/units.ts'
import {
  currentWindows,
  MAINTENANCE_MAX,
  type MaintenanceRequest,
  MaintenanceWindow,
  NewMaintenance,
} from './maintenance.ts'
import { TimeZone } from './model.ts'
import * as store from './settings-store.ts'
import { updateOwnChannels } from './store.ts'

/** Maximum number of reminders of one alert, and maximum interval: a day. */
const REMINDERS_MAX = 24
const REMINDER_MINUTES_MAX = 1440

const TimeOfDay = textFormat(/^([01]\d|2[0-3]):[0-5]\d$/, () => ({ code: 'time_of_day' })).meta({
  description: 'operations:field.timeOfDay',
  examples: ['22:00'],
})

const QuietHours = z
  .strictObject({
    enabled: z.boolean(),
    from: TimeOfDay,
    to: TimeOfDay,
    criticalBypass: z.boolean().meta({ description: 'operations:field.criticalBypass' }),
  })
  .check((context) => {
    const { enabled, from, to } = context.value
    if (!enabled || from !== to) return
    context.issues.push({
      code: 'custom',
      input: to,
      path: ['to'],
      params: { code: 'same_time' },
    })
  })

const Reminders = z
  .array(z.int().min(1).max(REMINDER_MINUTES_MAX))
  .max(REMINDERS_MAX)
  .refine((minutes) => new Set(minutes).size === minutes.length, { params: { code: 'duplicate' } })
  .meta({ description: 'operations:field.repeatCritical', uniqueItems: true })

const fields = {
  locale: z.enum(LOCALES),
  timezone: TimeZone,
  minSeverity: z.enum(SEVERITIES),
  recoveries: z.boolean().meta({ description: 'operations:field.sendRecoveries' }),
  weeklyCard: z.boolean().default(false).meta({ description: 'operations:field.weeklyCard' }),
  epochReport: z.boolean().default(false).meta({ description: 'operations:field.epochReport' }),
  quietHours: QuietHours,
  digest: z.enum(['off', '15m', '1h', 'daily']).meta({ description: 'operations:field.digest' }),
  digestAt: TimeOfDay,
  repeat: z.strictObject({ critical: Reminders }),
  maintenance: z
    .array(MaintenanceWindow)
    .max(MAINTENANCE_MAX)
    .meta({ description: 'operations:field.maintenance' }),
}

const StoredSettings = z.strictObject(fields)

/** A wallet's notification settings. They apply to messages to people; `maintenance` applies to programs, too. */
export const Settings = z
  .strictObject({
    ...fields,
    version: z.int().min(0).max(ID_MAX).meta({ description: 'operations:field.countsChanges' }),
  })
  .meta({ id: 'Settings' })
export type Settings = z.output<typeof Settings>

/**
 * Body of `PUT /settings`: the whole object. If `version` is sent, it must be the current version. Without `maintenance`
 * the windows stay as they are.
 */
export const NewSettings = Settings.partial({ version: true })
  .extend({ maintenance: NewMaintenance.optional() })
  .meta({ id: 'SettingsRequest' })
export type NewSettings = z.output<typeof NewSettings>

const FIRST_VERSION = 1

/** Settings of a wallet that never changed them. */
export const DEFAULT_SETTINGS: Settings = {
  locale: 'en',
  timezone: 'UTC',
  minSeverity: 'info',
  recoveries: true,
  weeklyCard: false,
  epochReport: false,
  quietHours: { enabled: false, from: '22:00', to: '07:00', criticalBypass: true },
  digest: 'off',
  digestAt: '09:00',
  repeat: { critical: [15, 60, 240] },
  maintenance: [],
  version: FIRST_VERSION,
}

/** The wallet's notification settings. */
export async function getSettings(deps: { readonly db: Db }, caller: Caller): Promise<Settings> {
  const rows = await listSettings(deps.db, [caller.wallet])
  return rows.get(caller.wallet) ?? DEFAULT_SETTINGS
}

/**
 * Replaces the wallet's notification settings as a whole. The wallet's own channels use its language and
 * time zone.
 *
 * @param ifVersions the settings are replaced only if their version is one of these
 * @throws AppError stale `etag_mismatch`
 */
export async function replaceSettings(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  input: { readonly settings: NewSettings; readonly ifVersions?: readonly number[] | undefined },
): Promise<Settings> {
  const { version: bodyVersion, ...settings } = input.settings
  return await deps.db.transaction(async (tx) => {
    const now = deps.clock.now()
    const current = await lockWallet(tx, caller.wallet, now)
    const isBodyStale = bodyVersion !== undefined && bodyVersion !== current.version
    if (isBodyStale || input.ifVersions?.includes(current.version) === false) {
      throw new AppError('stale', 'etag_mismatch')
    }
    const critical = settings.repeat.critical.toSorted((a, b) => a - b)
    const maintenance = (settings.maintenance ?? current.maintenance).map(withId)
    const changed = { ...settings, repeat: { critical }, maintenance }
    const saved = await save(tx, caller, changed, now)
    const { locale, timezone } = settings
    await updateOwnChannels(tx, caller.wallet, { locale, timezone, updatedAt: now })
    return saved
  })
}

/**
 * Adds a window of planned maintenance to the wallet's settings.
 *
 * @throws AppError conflict `maintenance_limit_reached`; invalid `validation_failed` if it is over already
 */
export async function addMaintenance(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  { name, minutes, watchIds = null, from, repeat = null }: MaintenanceRequest,
): Promise<MaintenanceWindow> {
  return await deps.db.transaction(async (tx) => {
    const now = deps.clock.now()
    const { version: _, ...current } = await lockWallet(tx, caller.wallet, now)
    const others = currentWindows(current, now).map(({ period: _, ...window }) => window)
    if (others.length >= MAINTENANCE_MAX) {
      throw new AppError('conflict', 'maintenance_limit_reached', {
        values: { count: MAINTENANCE_MAX },
      })
    }
    const begins = from ?? now
    const until = new Date(begins.getTime() + minutes * MINUTE_MS)
    if (until <= now && repeat === null) {
      throw new AppError('invalid', 'validation_failed', {
        errors: [{ pointer: '/from', code: 'ends_before_now' }],
      })
    }
    const window = withId({ name, watchIds, from: begins, until, repeat })
    await save(tx, caller, { ...current, maintenance: [...others, window] }, now)
    return window
  })
}

/**
 * Ends a window of planned maintenance for good.
 *
 * @throws AppError not_found
 */
export async function removeMaintenance(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  windowId: string,
): Promise<Settings> {
  return await deps.db.transaction(async (tx) => {
    const now = deps.clock.now()
    const { version: _, ...current } = await lockWallet(tx, caller.wallet, now)
    const maintenance = current.maintenance.filter(({ id }) => id !== windowId)
    if (maintenance.length === current.maintenance.length) {
      throw new AppError('not_found', 'not_found')
    }
    return await save(tx, caller, { ...current, maintenance }, now)
  })
}

function withId({ id = randomUUID(), ...window }: NewMaintenance[number]): MaintenanceWindow {
  return { id, ...window }
}

/** Writes the settings without the windows that are over for good. */
async function save(
  tx: Db,
  { wallet }: Caller,
  settings: Omit<Settings, 'version'>,
  now: Date,
): Promise<Settings> {
  const maintenance = currentWindows(settings, now).map(({ period: _, ...window }) => window)
  const changed = { ...settings, maintenance }
  const version = await store.saveSettings(tx, wallet, { settings: changed, at: now })
  return { ...changed, version }
}

/** Settings that ask for messages which no event causes. */
export type Wanted = 'weeklyCard' | 'epochReport'

/** Wallets whose settings ask for something, by address, after one of them. */
export function listWalletsWith(
  db: Db,
  wanted: Wanted,
  after: string,
  limit: number,
): Promise<readonly Address[]> {
  return store.listWalletsWith(db, wanted, after, limit)
}

/** Settings of these wallets; a wallet that is missing in the result has `DEFAULT_SETTINGS`. */
export async function listSettings(
  db: Db,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, Settings>> {
  const rows = await store.listSettings(db, wallets)
  return new Map(rows.map((row) => [row.wallet, toSettings(row)]))
}

/**
 * Locks the wallet until the transaction ends, so that concurrent transactions count and change its
 * recipients and settings one after another. Returns the settings.
 */
export async function lockWallet(tx: Db, wallet: Address, now: Date): Promise<Settings> {
  const { version, ...settings } = DEFAULT_SETTINGS
  return toSettings(await store.lockWallet(tx, wallet, { settings, version, at: now }))
}

function toSettings(row: store.SettingsRow): Settings {
  return { ...StoredSettings.parse(row.settings), version: row.version }
}
