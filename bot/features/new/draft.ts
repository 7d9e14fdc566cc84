/**
 * Draft of a watch in the wizard: the choices so far. Drafts are stored in the database, so they survive a
 * restart. A new draft replaces the previous draft, and `rev` distinguishes their buttons.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { Id } from '#src/kernel/units.ts'
import type { BotContext, ChatState } from '../../core/context.ts'
import { QUESTION_AND_DRAFT_MS, sessionKeyOf } from '../../core/session.ts'
import { deleteDraft, findDraft, putDraft } from '../../core/session-store.ts'

/** Name of the wizard's question among those of all features. */
export const WIZARD_QUESTION = 'new'

/**
 * Steps of the wizard. `target`: target of the watch. `rule`: when it alerts. `choose`: enabled signals.
 * `check`: summary of all choices. `people`: recipients. `done`: the watch was created.
 */
export const STEPS = ['target', 'rule', 'choose', 'check', 'people', 'done'] as const
export type Step = (typeof STEPS)[number]

const JsonRecord = z.record(z.string(), z.unknown())

/** A target that was offered or typed. */
const Candidate = z.object({ name: z.string(), target: JsonRecord })
export type Candidate = z.output<typeof Candidate>

const Preview = z.object({
  target: JsonRecord,
  label: z.string(),
  observation: z.unknown(),
  /** Whether the target, a provider, exists; true while that is uncertain, and for other targets. */
  isKnown: z.boolean().default(true),
  /** The public name of a provider. */
  providerName: z.string().nullable().default(null),
})
export type Preview = z.output<typeof Preview>

const DraftValues = z.object({
  type: z.string(),
  step: z.enum(STEPS),
  /** Parts of the target that are chosen first: the asset of a balance. */
  parts: JsonRecord,
  /** Targets that `new.pick` refers to, in the order shown. */
  offered: z.array(Candidate),
  page: z.int(),
  /** The target in canonical form, with its observation. */
  preview: Preview.nullable(),
  /** The rule of the type; null is the suggested one. */
  rule: z.string().nullable().default(null),
  /** Settings by key, as text. */
  settings: z.record(z.string(), z.string()),
  /** Signals that differ from the default. */
  signals: z.array(z.object({ id: z.string(), enabled: z.boolean() })),
  label: z.string().nullable(),
  recipientIds: z.array(Id).nullable(),
  minSeverity: z.enum(SEVERITIES),
  /** Suggestions for an unknown name: feeds by name, providers by identity. */
  nearest: z.array(z.string()),
  /**
   * What the next typed text is: a setting by its short name, a token, or a name; if null, the target. `kin`: nothing,
   * because the rules of the type are shown.
   */
  asking: z.string().nullable(),
  /** Id of the created watch. */
  watchId: Id.nullable(),
})
export type DraftValues = z.output<typeof DraftValues>

/** A draft with its ids. */
export interface Draft {
  /** Id of the draft; also the idempotency key of the watch that it becomes. */
  readonly id: string
  readonly rev: number
  readonly wallet: string
  readonly values: DraftValues
}

const REV_MAX = 36 ** 4

/**
 * The person's draft; undefined after it expired. A draft of another version of the service that cannot be
 * parsed counts as expired.
 */
export async function readDraft(ctx: ChatState): Promise<Draft | undefined> {
  const sessionKey = sessionKeyOf(ctx)
  if (sessionKey === undefined) return undefined
  const row = await findDraft(ctx.app.db, sessionKey, ctx.app.clock.now())
  if (row === undefined) return undefined
  const values = DraftValues.safeParse(row.values)
  if (values.success) return { ...row, values: values.data }
  ctx.app.quarantine.add('bot draft', row.id, values.error)
  return undefined
}

/**
 * Age up to which a draft continues by itself. An older draft is offered with a button, because the person
 * may have forgotten it.
 */
const WORKED_ON_MS = HOUR_MS

/** Whether the person changed a draft for this wallet in the last hour. */
export async function isDraftRecent(state: ChatState, wallet: string): Promise<boolean> {
  const sessionKey = sessionKeyOf(state)
  if (sessionKey === undefined) return false
  const { db, clock } = state.app
  const now = clock.now()
  const row = await findDraft(db, sessionKey, now)
  if (row?.wallet !== wallet) return false
  return now.getTime() - row.updatedAt.getTime() <= WORKED_ON_MS
}

/** Starts a draft, which replaces the previous draft. */
export async function beginDraft(
  ctx: BotContext,
  wallet: string,
  initialValues: Pick<DraftValues, 'type' | 'step'> & Partial<DraftValues>,
): Promise<Draft> {
  const before = await readDraft(ctx)
  const rev = before === undefined ? randomInt(REV_MAX) : (before.rev + 1) % REV_MAX
  const values = { ...EMPTY, ...initialValues }
  return keepDraft(ctx, { id: randomUUID(), rev, wallet, values })
}

const EMPTY: Omit<DraftValues, 'type' | 'step'> = {
  parts: {},
  offered: [],
  page: 1,
  preview: null,
  rule: null,
  settings: {},
  signals: [],
  label: null,
  recipientIds: null,
  minSeverity: 'info',
  nearest: [],
  asking: null,
  watchId: null,
}

/** Stores a draft, and extends its lifetime to a day from now. */
async function keepDraft(ctx: ChatState, draft: Draft): Promise<Draft> {
  const sessionKey = sessionKeyOf(ctx)
  if (sessionKey === undefined) throw new Error('a draft without a person')
  const updatedAt = ctx.app.clock.now()
  const expiresAt = new Date(updatedAt.getTime() + QUESTION_AND_DRAFT_MS)
  await putDraft(ctx.app.db, { ...sessionKey, ...draft, updatedAt, expiresAt })
  return draft
}

/** Changes a draft's choices. */
export async function changeDraft(
  ctx: ChatState,
  draft: Draft,
  changes: Partial<DraftValues>,
): Promise<Draft> {
  return keepDraft(ctx, { ...draft, values: { ...draft.values, ...changes } })
}

/** Gives a draft another id, its idempotency key: under the old one the stored refusal would be returned again. */
export function renewDraft(ctx: BotContext, draft: Draft): Promise<Draft> {
  return keepDraft(ctx, { ...draft, id: randomUUID() })
}

/** Deletes the person's draft. */
export async function dropDraft(ctx: BotContext): Promise<void> {
  const sessionKey = sessionKeyOf(ctx)
  if (sessionKey !== undefined) await deleteDraft(ctx.app.db, sessionKey)
}
