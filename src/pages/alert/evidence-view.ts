import { z } from 'zod'
import type { LinkedEvidence } from '#src/alerts/evidence/evidence.ts'
import { AlertEvidence } from '#src/alerts/evidence/model.ts'
import { isCode } from '#src/channels/card/wording.ts'
import { formatChance } from '#src/i18n/chance.ts'
import {
  formatAmount,
  formatDateTime,
  formatNumber,
  formatPercent,
  shortAddress,
} from '#src/i18n/format.ts'
import { checkedKey, hasText, id, type Translate } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { outageFiguresOf } from '#src/kernel/outage-figures.ts'
import { Address, type JsonObject } from '#src/kernel/units.ts'
import { parseHelpText } from '../help-text.ts'

/** Number of characters of calldata that the page shows; the JSON has all of it. */
const INPUT_SHOWN = 400

type Encoded = z.input<typeof AlertEvidence>

/** Template data of the page of an alert's evidence: first in words, then as in the document. */
export function evidenceView(
  t: Translate,
  { evidence, message, incidentId, timezone }: LinkedEvidence,
  code: string,
) {
  const { rule, claim, unproven, sources } = evidence
  const encoded: Encoded = z.encode(AlertEvidence, evidence)
  return {
    title: t('pages:evidence.title', { id: id(incidentId) }),
    back: `/a/${code}`,
    json: `/a/${code}/evidence.json`,
    message: {
      title: message.title,
      paragraphs: message.body.split('\n').filter((line) => line !== ''),
      fields: message.fields.map((field) => ({ ...field, isCode: isCode(field) })),
    },
    counted: countedTexts(t, evidence.data),
    rule: rule === null ? undefined : parseHelpText(rule),
    figures: claim === null ? [] : figuresOf(t, encoded.claim ?? {}),
    unproven: unproven === null ? undefined : t(checkedKey(`pages:evidence.unproven.${unproven}`)),
    blocks: blockRows(t, encoded.blocks, timezone),
    transactions: encoded.transactions.map((transaction) => transactionView(t, transaction)),
    sources: [
      ...sources.contracts.map(({ name, addresses }) => ({ name, values: addresses })),
      ...(sources.accounts.length === 0
        ? []
        : [{ name: t('pages:evidence.accounts'), values: sources.accounts }]),
      ...sources.functions.map(({ name, selector }) => ({ name: `${name}()`, values: [selector] })),
      ...sources.events.map(({ name, topic }) => ({ name, values: [topic] })),
    ].map(({ name, values }) => ({ name, values: values.map(placed) })),
    command: commandOf(evidence),
    raw: JSON.stringify(encoded, null, 2),
    script: '/scripts/copies.js',
  }
}

/** Where the figures beside the claim come from: how others are counted, and which published rewards the cost follows from. */
function countedTexts(t: Translate, data: JsonObject): readonly string[] {
  const { others, cost } = outageFiguresOf(data)
  const source = cost?.source
  return [
    ...(others === undefined ? [] : [t('pages:evidence.others')]),
    ...(cost === undefined || source == null
      ? []
      : [
          t('pages:evidence.cost', {
            epoch: id(source.rewardEpochId),
            amount: formatAmount(
              { units: source.amountWei, decimals: 18, symbol: cost.symbol, rounded: 'whole' },
              t.locale,
            ),
            rounds: cost.ofRounds,
          }),
          ...(source.weightRatio === null
            ? []
            : [t('pages:evidence.weight', { rate: formatPercent(source.weightRatio, t.locale) })]),
        ]),
  ]
}

/** What the command needs beside an endpoint, by kind of claim. */
const BESIDE: Readonly<Partial<Record<NonNullable<AlertEvidence['claim']>['kind'], string>>> = {
  eligibility: ' --published passes.json',
  rewards: " --published 'https://…/{epoch}/reward-distribution-data.json'",
  listing: ' --p-chain https://…/ext/bc/P',
}

/** The command that checks the document. It needs a second endpoint, of another operator. */
function commandOf({ alertId, claim }: LinkedEvidence['evidence']): string {
  const more = claim === null ? '' : (BESIDE[claim.kind] ?? '')
  return `node verify-evidence.ts evidence-${alertId}.json ${servedChain().rpcUrl} https://…${more}`
}

/** A value with its address at the explorer, if it is an address. */
function placed(value: string) {
  const isAddress = Address.safeParse(value).success
  return isAddress
    ? { value, href: `${servedChain().explorer.url}/address/${value}` }
    : { value, href: undefined }
}

/** A transaction, with links to the explorer. */
function transactionView(t: Translate, transaction: Encoded['transactions'][number]) {
  const { url } = servedChain().explorer
  const { input, frames, sender, receiver, block } = transaction
  return {
    ...transaction,
    href: `${url}/tx/${transaction.hash}`,
    place: { text: formatNumber(block, t.locale), href: `${url}/block/${block}` },
    from: { text: shortAddress(sender), href: `${url}/address/${sender}` },
    to:
      receiver === null
        ? undefined
        : { text: shortAddress(receiver), href: `${url}/address/${receiver}` },
    input: cutText(input, INPUT_SHOWN),
    frames: frames.map(
      ({ protocol, round, bytes }) => `protocol=${protocol} round=${round} bytes=${bytes}`,
    ),
  }
}

/** Probabilities in the claim of a silence. */
const CHANCES: readonly string[] = ['probability', 'threshold']

/** The values of a claim, one for each property, with its meaning; lists and objects are shown as JSON. */
function figuresOf(
  t: Translate,
  claim: JsonObject,
): readonly {
  readonly name: string
  readonly meaning: string | undefined
  readonly value: string
  /** Whether the value is in words, as probabilities are; the file with the evidence has their numbers. */
  readonly isText: boolean
}[] {
  const { values = {}, ...rest } = claim
  const claimValues = {
    ...rest,
    ...(typeof values === 'object' && !Array.isArray(values) ? values : {}),
  }
  return Object.entries(claimValues).map(([name, value]) => {
    const key = `operations:meaning.EvidenceClaim.${name}`
    const meaning = hasText(key) ? t(key) : undefined
    const isText = claim['kind'] === 'silence' && CHANCES.includes(name)
    const json = typeof value === 'string' ? value : JSON.stringify(value)
    return { name, meaning, isText, value: isText ? formatChance(Number(value), t.locale) : json }
  })
}

function blockRows(t: Translate, blocks: Encoded['blocks'], timezone: string) {
  if (blocks === null) return []
  const { first, last } = blocks
  const row = (label: string, { number, hash, at }: typeof last) => ({
    label,
    text: formatNumber(number, t.locale),
    href: `${servedChain().explorer.url}/block/${number}`,
    hash,
    at,
    time: formatDateTime(new Date(at), t.locale, timezone),
  })
  return [
    ...(first === null ? [] : [row(t('pages:evidence.from'), first)]),
    row(t('pages:evidence.to'), last),
  ]
}
