/** Typed input of the wizard, at any step. */
import { packed } from '#src/actions/codec.ts'
import { Label } from '#src/kernel/label.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import { parseInput } from '#src/kernel/validation.ts'
import type { BotContext } from '../../core/context.ts'
import type { Refusal } from '../../core/session.ts'
import { findField } from '../../views/fields.ts'
import { addressRefusal } from '../../views/refusals.ts'
import { readTypedValue } from '../watches/typed-value.ts'
import { changeDraft, type Draft, type Preview } from './draft.ts'
import { changesOfChoice } from './moves.ts'
import { readTarget } from './targets.ts'
import * as views from './view.ts'

/** The draft after an answer, or why the answer is refused. */
type Answered = { readonly draft: Draft } | { readonly refusal: Refusal }

/** Stores a typed answer in the draft. @throws AppError for a name that is not valid */
export async function storeTypedAnswer(
  ctx: BotContext,
  draft: Draft,
  text: string,
): Promise<Answered> {
  const { values } = draft
  if (values.asking === 'tok') {
    const address = readAddress(text)
    if (!address.ok) return { refusal: { html: addressRefusal(ctx.t, address) } }
    const parts = { ...values.parts, asset: address.value }
    return { draft: await changeDraft(ctx, draft, { parts, asking: null }) }
  }
  if (values.step === 'target') {
    const understood = await readTarget(ctx, draft, text)
    if (!understood.ok) return { refusal: understood.refusal }
    return { draft: await setDraftTarget(ctx, draft, understood.preview) }
  }
  if (values.step === 'check' && values.asking === 'lab') {
    const name = parseInput(Label, text)
    if (!name.success) throw name.error
    return { draft: await changeDraft(ctx, draft, { label: name.data, asking: null }) }
  }
  return readSetting(ctx, draft, text)
}

/** The draft with a chosen target. */
export function setDraftTarget(ctx: BotContext, draft: Draft, preview: Preview): Promise<Draft> {
  return changeDraft(ctx, draft, { preview, step: 'rule', asking: null, page: 1 })
}

async function readSetting(ctx: BotContext, draft: Draft, text: string): Promise<Answered> {
  const { type, step, asking } = draft.values
  const owned = asking === null ? views.onlyTypedSetting(draft.values) : findField(type, asking)
  if (step !== 'rule' || owned === undefined) {
    return { refusal: { html: ctx.t.html('bot:typed.press') } }
  }
  const { rev } = draft
  const { code } = owned.field
  const press = (value: string) => packed('new.set', { rev, field: code, value })
  const read = await readTypedValue(ctx, views.describedDraft(draft), owned, text, press)
  if ('refusal' in read) return read
  const changes = changesOfChoice(draft, code, read.value)
  return { draft: changes === undefined ? draft : await changeDraft(ctx, draft, changes) }
}
