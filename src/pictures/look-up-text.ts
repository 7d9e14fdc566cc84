/** The answer to a look-up in words: the same in chats and on pages. */
import { formatAmounts } from '#src/i18n/amounts.ts'
import { formatDate, formatNumber, formatPercent, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { ProviderBehind } from '#src/watches/account-holdings.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { countsText, roundsGlyph, roundsText } from './rounds-text.ts'

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

/** The providers behind an account's delegations and stakes, each once. */
export function providersBehind({ holdings }: LookedUpAccount): readonly ProviderBehind[] {
  const { delegations, stakes } = holdings ?? {}
  const all = [...(delegations ?? []), ...(stakes ?? [])].flatMap(({ behind }) => behind ?? [])
  return [...new Map(all.map((one) => [one.provider, one])).values()]
}

/** Name of a provider, or its short address. */
export function behindName({ name, provider }: ProviderBehind): string {
  return name ?? shortAddress(provider)
}

/** What an account delegates, stakes and may claim. What could not be read says so. */
export function holdingFields(
  t: Translate,
  { holdings }: LookedUpAccount,
  timezone: string,
): readonly LookUpField[] {
  const { delegations = null, delegatesByAmount = false, stakes = null } = holdings ?? {}
  const { rewards = null, stakingRewardsWei = null, moreStakes = 0 } = holdings ?? {}
  const listOf = (label: string, values: readonly string[] | null) =>
    (values === null
      ? [t('pages:home.answer.unread')]
      : values.length === 0
        ? [t('pages:holding.none')]
        : values
    ).map((value) => ({ label, value }))
  const more =
    moreStakes === 0 ? [] : [t('pages:holding.more', { rest: formatNumber(moreStakes, t.locale) })]
  return [
    ...listOf(
      t('pages:holding.delegation'),
      delegatesByAmount
        ? [t('pages:holding.byAmount')]
        : (delegations?.map((one) => delegationText(t, one)) ?? null),
    ),
    ...listOf(
      t('pages:holding.stake'),
      stakes && [...stakes.map((one) => stakeText(t, one)), ...more],
    ),
    ...listOf(
      t('signals:provider-fsp.rewards-unclaimed.label'),
      rewards && (rewards.length === 0 ? [] : [rewardsText(t, rewards, timezone)]),
    ),
    ...listOf(
      t('pages:holding.stakingRewards'),
      stakingRewardsWei === null
        ? null
        : stakingRewardsWei === 0n
          ? []
          : [coins(t, stakingRewardsWei)],
    ),
  ]
}

type Held = NonNullable<LookedUpAccount['holdings']>

function delegationText(
  t: Translate,
  delegation: NonNullable<Held['delegations']>[number],
): string {
  const { behind, bips, amountWei } = delegation
  return t('pages:holding.delegated', {
    provider: typed(behindName(behind)),
    share: formatPercent(bips / 10_000, t.locale),
    amount: coins(t, amountWei, `W${servedChain().symbol}`),
    state: stateText(t, behind),
  })
}

function stakeText(
  t: Translate,
  { nodeId, behind, amountWei }: NonNullable<Held['stakes']>[number],
): string {
  const amount = coins(t, amountWei)
  const node = id(nodeId)
  if (behind === undefined) return t('pages:holding.stakeUnread', { node, amount })
  if (behind === null) return t('pages:holding.stakeAlone', { node, amount })
  return t('pages:holding.staked', {
    provider: typed(behindName(behind)),
    amount,
    state: stateText(t, behind),
  })
}

/** Whether a provider is registered and eligible, and its last rounds. */
function stateText(t: Translate, { isInPolicy, isEligible, rounds }: ProviderBehind): string {
  const word = (is: boolean | null) => (is === null ? 'unknown' : is ? 'yes' : 'no')
  const [few] = COUNTED_ROUNDS
  return [
    t(`pages:holding.registered.${word(isInPolicy)}`),
    t(`pages:holding.eligible.${word(isEligible)}`),
    countsText(t, rounds ?? { known: 0, bad: 0 }, few),
  ].join(' · ')
}

function rewardsText(
  t: Translate,
  rewards: NonNullable<Held['rewards']>,
  timezone: string,
): string {
  const amount = coins(
    t,
    rewards.reduce((sum, { amountWei }) => sum + amountWei, 0n),
  )
  const [oldest] = rewards
  if (oldest?.claimUntil == null) return t('pages:holding.claimUnknown', { amount })
  const date = formatDate(oldest.claimUntil, t.locale, timezone)
  return t('pages:holding.claimUntil', { amount, date })
}

function coins(t: Translate, units: bigint, symbol: string = servedChain().symbol): string {
  return formatAmounts([{ units, decimals: 18, symbol }], t.locale).join()
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
