import { z } from 'zod'
import { AlertEvidence } from '#src/alerts/evidence-model.ts'
import { builtKey, id, type Translate } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { helpBlocks } from './help-text.ts'

/** Calldata on the page in characters; the JSON has all of it. */
const INPUT_SHOWN = 400

/** Template data of the page of an alert's evidence. */
export function evidenceView(t: Translate, evidence: AlertEvidence, code: string) {
  const { alertId, rule, claim, unproven, sources } = evidence
  const encoded = z.encode(AlertEvidence, evidence)
  return {
    title: t('pages:evidence.title', { id: id(alertId) }),
    back: `/a/${code}`,
    json: `/a/${code}/evidence.json`,
    rule: rule === null ? undefined : helpBlocks(rule),
    figures: claim === null ? [] : figuresOf(encoded.claim ?? {}),
    unproven: unproven === null ? undefined : t(builtKey(`pages:evidence.unproven.${unproven}`)),
    blocks: blockRows(t, encoded.blocks),
    transactions: encoded.transactions.map(({ input, frames, ...one }) => ({
      ...one,
      href: `${servedChain().explorer.url}/tx/${one.hash}`,
      input: input.length > INPUT_SHOWN ? `${input.slice(0, INPUT_SHOWN)}…` : input,
      frames: frames.map(
        ({ protocol, round, bytes }) => `protocol=${protocol} round=${round} bytes=${bytes}`,
      ),
    })),
    sources: [
      ...sources.contracts.map(({ name, addresses }) => ({ name, values: addresses })),
      ...(sources.accounts.length === 0
        ? []
        : [{ name: t('pages:evidence.accounts'), values: sources.accounts }]),
      ...sources.functions.map(({ name, selector }) => ({ name: `${name}()`, values: [selector] })),
      ...sources.events.map(({ name, topic }) => ({ name, values: [topic] })),
    ],
    command: `node verify-evidence.ts evidence-${alertId}.json ${servedChain().rpcUrl}`,
  }
}

/** The figures of a claim, one for each property; lists and objects as JSON. */
function figuresOf(
  claim: JsonObject,
): readonly { readonly name: string; readonly value: string }[] {
  const { values = {}, ...rest } = claim
  const all = { ...rest, ...(typeof values === 'object' && !Array.isArray(values) ? values : {}) }
  return Object.entries(all).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }))
}

function blockRows(t: Translate, blocks: z.input<typeof AlertEvidence>['blocks']) {
  if (blocks === null) return []
  const { first, last } = blocks
  const row = (label: string, { number, hash, at }: typeof last) => ({ label, number, hash, at })
  return [
    ...(first === null ? [] : [row(t('pages:evidence.from'), first)]),
    row(t('pages:evidence.to'), last),
  ]
}
