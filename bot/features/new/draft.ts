/**
 * A watch that somebody is about to create: what has been chosen so far. It is kept in the database, so a
 * restart between two steps changes nothing. A new one takes the place of the one before, and `rev` tells
 * their buttons apart.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Id } from '#src/kernel/units.ts'
import type { BotContext } from '../../core/context.ts'
import { placeOf, SESSION_MS } from '../../core/session.ts'
import { deleteDraft, findDraft, putDraft } from '../../core/session-store.ts'

/** target: what is watched. rule: when it alerts. choose: which signals. check: everything once more. */
export const STEPS = ['target', 'rule', 'choose', 'check', 'people', 'done'] as const
export type Step = (typeof STEPS)[number]

const JsonRecord = z.record(z.string(), z.unknown())

/** A target that is offered, or was typed. */
const Candidate = z.object({ name: z.string(), target: JsonRecord })
export type Candidate = z.output<typeof Candidate>

const Preview = z.object({
  target: JsonRecord,
  label: z.string(),
  observation: z.unknown(),
  /** Of a provider: somebody knows of it, or that cannot be told right now. */
  isKnown: z.boolean().default(true),
  /** The public name of a provider. */
  providerName: z.string().nullable().default(null),
})
export type Preview = z.output<typeof Preview>

const DraftValues = z.object({
  type: z.string(),
  step: z.enum(STEPS),
  /** Parts of the target that are chosen before the rest: the asset of a balance. */
  parts: JsonRecord,
  /** What `new.pick` points at, as it was shown. */
  offered: z.array(Candidate),
  page: z.int(),
  /** The target as understood, and how it stood then. */
  preview: Preview.nullable(),
  /** Settings by key, as text. */
  settings: z.record(z.string(), z.string()),
  /** Signals that are set otherwise than usual. */
  signals: z.array(z.object({ id: z.string(), enabled: z.boolean() })),
  recovery: z.boolean(),
  label: z.string().nullable(),
  recipientIds: z.array(Id).nullable(),
  minSeverity: z.enum(SEVERITIES),
  /** What may have been meant, when a name did not say: feeds by name, providers by identity. */
  nearest: z.array(z.string()),
  /** Everything but the target was taken from another watch. */
  isLike: z.boolean(),
  /** What the next text is: a setting by its short name, a token, a name; else the target. */
  asking: z.string().nullable(),
  /** The watch that came of it. */
  watchId: Id.nullable(),
})
export type DraftValues = z.output<typeof DraftValues>

/** A draft and what tells it from others. */
export interface Draft {
  /** Also the idempotency key of its watch. */
  readonly id: string
  readonly rev: number
  readonly wallet: string
  readonly values: DraftValues
}

const REV_MAX = 36 ** 4

/**
 * The person’s draft, unless it is over. One that another version of the service wrote, and this one
 * cannot read, counts as over.
 */
export async function readDraft(ctx: BotContext): Promise<Draft | undefined> {
  const place = placeOf(ctx)
  if (place === undefined) return undefined
  const row = await findDraft(ctx.app.db, place, ctx.app.clock.now())
  if (row === undefined) return undefined
  const values = DraftValues.safeParse(row.values)
  if (values.success) return { ...row, values: values.data }
  ctx.app.quarantine.add('bot draft', row.id, values.error)
  return undefined
}

/** Begins a draft in the place of the one before. */
export async function beginDraft(
  ctx: BotContext,
  wallet: string,
  over: Pick<DraftValues, 'type' | 'step'> & Partial<DraftValues>,
): Promise<Draft> {
  const before = await readDraft(ctx)
  const rev = before === undefined ? randomInt(REV_MAX) : (before.rev + 1) % REV_MAX
  const values = { ...EMPTY, ...over }
  return keepDraft(ctx, { id: randomUUID(), rev, wallet, values })
}

const EMPTY: Omit<DraftValues, 'type' | 'step'> = {
  parts: {},
  offered: [],
  page: 1,
  preview: null,
  settings: {},
  signals: [],
  recovery: true,
  label: null,
  recipientIds: null,
  minSeverity: 'info',
  nearest: [],
  isLike: false,
  asking: null,
  watchId: null,
}

/** Writes a draft down for another day. */
async function keepDraft(ctx: BotContext, draft: Draft): Promise<Draft> {
  const place = placeOf(ctx)
  if (place === undefined) throw new Error('a draft without a person')
  const updatedAt = ctx.app.clock.now()
  const expiresAt = new Date(updatedAt.getTime() + SESSION_MS)
  await putDraft(ctx.app.db, { ...place, ...draft, updatedAt, expiresAt })
  return draft
}

/** Changes what a draft says. */
export async function changeDraft(
  ctx: BotContext,
  draft: Draft,
  changes: Partial<DraftValues>,
): Promise<Draft> {
  return keepDraft(ctx, { ...draft, values: { ...draft.values, ...changes } })
}

/** Gives a draft another id, after a refusal that is remembered under the one it has. */
export function renewDraft(ctx: BotContext, draft: Draft): Promise<Draft> {
  return keepDraft(ctx, { ...draft, id: randomUUID() })
}

/** Drops the person’s draft. */
export async function dropDraft(ctx: BotContext): Promise<void> {
  const place = placeOf(ctx)
  if (place !== undefined) await deleteDraft(ctx.app.db, place)
}
