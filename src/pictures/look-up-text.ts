/** The answer to a look-up in words: the same in chats and on pages. */
import { formatAmounts } from '#src/i18n/amounts.ts'
import { formatPercent } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { roundsGlyph, roundsText } from './rounds-text.ts'

/** Numbers of rounds whose problems are counted. */
export const COUNTED_ROUNDS = [20, 100] as const

/** A fact about an account. */
export interface LookUpField {
  readonly label: string
  readonly value: string
  /** The value in US dollars. */
  readonly usd?: string
}

/** Facts about a provider: its newest rounds with their mark, and further lines. */
export function providerTexts(t: Translate, view: ProviderView) {
  const [few, many] = COUNTED_ROUNDS
  const lines = [
    view.rounds.length > few ? roundsText(t, view, many) : undefined,
    epochText(t, view),
    staleText(t, view),
  ]
  return {
    rounds: `${roundsGlyph(view, few)} ${roundsText(t, view, few)}`,
    lines: lines.filter((line) => line !== undefined),
  }
}

/** Why values may be out of date. If `currentRound` is null, the chain did not answer. */
function staleText(t: Translate, view: ProviderView): string | undefined {
  if (!view.stale) return undefined
  const hasRounds = view.rounds.length > 0
  if (view.currentRound !== null) return hasRounds ? t('pages:provider.stale') : undefined
  return t(hasRounds ? 'pages:home.answer.stored' : 'pages:home.answer.unavailable')
}

/** Whether the provider votes in the reward epoch, and with which weight; undefined while it is unknown. */
export function epochText(t: Translate, view: ProviderView): string | undefined {
  const { rewardEpoch, registered, inPolicy, weight } = view
  if (rewardEpoch === null || registered === null || inPolicy === null) return undefined
  const epoch = id(rewardEpoch)
  if (inPolicy && weight !== null) {
    const share = formatPercent(weight, t.locale)
    return t('bot:provider.epoch.member', { epoch, weight: share })
  }
  return t(`bot:provider.epoch.${registered ? 'registered' : 'absent'}`, { epoch })
}

type LookedUpAccount = Extract<LookUpAnswer, { kind: 'account' }>

/** Facts about an account that is no provider. */
export function accountFields(t: Translate, account: LookedUpAccount): readonly LookUpField[] {
  const kind = account.isContract ? 'contract' : 'wallet'
  return [
    { label: t('pages:home.answer.balance'), ...balanceTexts(t, account) },
    { label: t('pages:home.answer.kind'), value: t(`pages:home.answer.${kind}`) },
    { label: t('pages:home.answer.provider'), value: t('pages:home.answer.none') },
  ]
}

/** The balance, with its dollars unless they would read as none. */
function balanceTexts(
  t: Translate,
  { balanceWei, usdCents }: Pick<LookedUpAccount, 'balanceWei' | 'usdCents'>,
): Omit<LookUpField, 'label'> {
  if (balanceWei === null) return { value: t('pages:home.answer.unread') }
  const textOf = (units: bigint, decimals: number, symbol: string) =>
    formatAmounts([{ units, decimals, symbol }], t.locale).join()
  const value = textOf(balanceWei, 18, servedChain().symbol)
  if (usdCents === null || usdCents === 0n) return { value }
  return { value, usd: textOf(usdCents, 2, 'USD') }
}
