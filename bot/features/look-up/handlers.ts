import { Composer } from 'grammy'
import { cutText } from '#src/kernel/cut-text.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import { lookUp } from '#src/operations/pages/look-ups.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { send, show } from '../../core/show.ts'
import { cut } from '../../views/fields.ts'
import type { View } from '../../views/view.ts'
import { notUnderstood } from '../fallback/view.ts'
import { NAME_MIN, TEXT_LENGTH_MAX } from '../provider/search.ts'
import { type LookUpRights, lookUpCard, lookUpChoice } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'look.up', { unlinked: true }, async (ctx, { address }) => {
  const view = viewOf(ctx, address, await findByText(ctx, address))
  if (view !== undefined) await show(ctx, view)
})

/**
 * Answers an address, or the name of a provider, with what the search box of the start page finds.
 *
 * @returns false when nothing is found
 */
export async function offerLookUp(ctx: BotContext, text: string): Promise<boolean> {
  const name = text.trim()
  if (!readAddress(text).ok && name.length < NAME_MIN) return false
  const view = viewOf(ctx, name, await findByText(ctx, name))
  if (view === undefined) return false
  await send(ctx, view)
  return true
}

/** Answers a typed text with what a look-up finds, or else with why nothing is found. */
export async function answerLookUp(ctx: BotContext, text: string): Promise<void> {
  const address = readAddress(text)
  const problem = address.ok || address.reason === 'no_address' ? undefined : address
  if (problem === undefined && (await offerLookUp(ctx, text))) return
  const why = problem ?? 'unknown-text'
  await send(ctx, notUnderstood(ctx.reader, { why, isLinked: ctx.links.length > 0 }))
}

function findByText(ctx: BotContext, text: string): Promise<LookUpAnswer> {
  const query = { text: cutText(text, TEXT_LENGTH_MAX) }
  return ctx.call(lookUp, { query, limitKey: `telegram ${ctx.knownChat.id}` })
}

function viewOf(ctx: BotContext, input: string, answer: LookUpAnswer): View | undefined {
  const { reader } = ctx
  if (answer.kind === 'nothing') return undefined
  if (answer.kind === 'several') return lookUpChoice(reader, cut(input), answer.providers)
  return lookUpCard(reader, answer, rightsOf(ctx))
}

/** Rights that decide which buttons a look-up's card has. */
export function rightsOf({ links }: BotContext): LookUpRights {
  const [link] = links
  if (link === undefined) return 'unlinked'
  return link.caller.scopes.includes('write') ? 'write' : 'read'
}

export const lookUpFeature = defineFeature({ commands: [], composer })
