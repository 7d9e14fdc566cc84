/** What a file of evidence states, in words: a reader compares it with the message that he received. */
import { isEqual, must } from './claim.ts'
import { type AlertSaid, type ClaimOf, decodeMessage, type Evidence, type Kind } from './file.ts'

const WEI_PLACES = 18

/** Sentences by kind of claim. */
const SENTENCES: { readonly [K in Kind]: (claim: ClaimOf<K>) => string } = {
  round: ({ checks, round, rewardEpoch, streak, firstRound, required }) =>
    `bad in voting round ${show(round)} of reward epoch ${show(rewardEpoch)}: one of ${show(checks)}; ` +
    `${show(streak)} bad rounds in a row since round ${show(firstRound)}, alert from ${show(required)} on`,
  rate: ({ condition, done, possible, rounds, round, rewardEpoch, used }) =>
    `${show(condition)}: ${show(done)} of ${show(possible)} over ${show(rounds)} rounds of reward epoch ` +
    `${show(rewardEpoch)} up to ${show(round)}, which is ${show(used)} of the error budget`,
  'failed-call': ({ transaction, block }) =>
    `transaction ${show(transaction)} was reverted in block ${show(block)}`,
  silence: ({ blocksSinceUpdate, block, probability, threshold }) =>
    `no fast update in ${show(blocksSinceUpdate)} blocks up to ${show(block)}; ` +
    `chance ${odds(probability)}, alert below ${odds(threshold)}`,
  update: ({ transaction, block, feedsSent, feedCount, isAccepted }) =>
    `fast update ${show(transaction)} in block ${show(block)} covers ${show(feedsSent)} feeds, and there are ` +
    `${show(feedCount)}; the contract ${isAccepted ? 'accepted it' : 'did not accept it'}`,
  registration: ({ rewardEpoch, block, minutes }) =>
    `not registered for reward epoch ${show(rewardEpoch)} at block ${show(block)}, ` +
    `alert ${show(minutes)} minutes after registration opened`,
  membership: ({ rewardEpoch }) => `no voter of reward epoch ${show(rewardEpoch)}`,
  balance: ({ role, address, balanceWei, limitWei, block }) =>
    `${show(role)} account ${show(address)} held ${coins(balanceWei)} coins at block ${show(block)}, ` +
    `alert below ${coins(limitWei)}`,
  vote: ({ vote, rewardEpoch, isConcluded, block }) =>
    `no signature in the ${show(vote)} vote about reward epoch ${show(rewardEpoch)} by block ${show(block)}, ` +
    `${isConcluded ? 'when it was over' : 'while it was open'}`,
  eligibility: ({ rewardEpoch, failures }) =>
    `not eligible for the rewards of reward epoch ${show(rewardEpoch)}; failures: ${show(failures)}`,
  rewards: ({ epochs, amountWei, block, expiresAt }) =>
    `${coins(amountWei)} coins of own rewards of the reward epochs ${show(epochs)} were not claimed at block ` +
    `${show(block)}; the oldest expire at ${show(expiresAt)}`,
  listing: ({ nodeIds, block }) =>
    `${show(nodeIds)} were no validators on the P-chain at the time of block ${show(block)}`,
}

/** The statement of a file, as lines. */
export function statementOf({
  alertId,
  chainId,
  event,
  severity,
  firedAt,
  claim,
}: Pick<
  Evidence,
  'alertId' | 'chainId' | 'event' | 'severity' | 'firedAt' | 'claim'
>): readonly string[] {
  const sentence = SENTENCES[claim.kind] as (own: typeof claim) => string
  return [
    'The file states, and this is what is checked. Compare it with the message that you received:',
    `  alert     ${show(alertId)} on chain ${show(chainId)}`,
    `  event     ${show(event)}, ${show(severity)}`,
    `  time      ${show(firedAt)}`,
    `  provider  ${show(claim.provider)}`,
    `  claim     ${sentence(claim)}`,
  ]
}

/** A value of the file; what prints it puts it on one line. */
function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const COUNT = new Intl.NumberFormat('en', {
  notation: 'compact',
  compactDisplay: 'long',
  maximumSignificantDigits: 2,
})

/** A probability with what it means: `2.6e-8 (1 in 38 million)`. */
function odds(value: number | string): string {
  const against = 1 / Number(value)
  return against > 1 && against < ODDS_MAX
    ? `${show(value)} (1 in ${COUNT.format(against)})`
    : show(value)
}

const ODDS_MAX = 1e16

/** An amount in whole coins. */
function coins(wei: string): string {
  const digits = wei.padStart(WEI_PLACES + 1, '0')
  const rest = digits.slice(-WEI_PLACES).replace(/0+$/, '')
  return `${digits.slice(0, -WEI_PLACES)}${rest === '' ? '' : `.${rest}`}`
}

const COMPARED = ['alertId', 'event', 'severity', 'firedAt', 'data'] as const

/**
 * Refutes evidence that is not that of a webhook: it states something else than was sent, be it true or not.
 *
 * @param body of the webhook, whose signature the reader has checked
 */
export function checkMessage(stated: AlertSaid, body: string): void {
  const message = decodeMessage(body)
  for (const name of COMPARED) {
    must(
      isEqual(message[name], stated[name]),
      `the message has ${show(message[name])} for ${name}, the file ${show(stated[name])}`,
    )
  }
}
