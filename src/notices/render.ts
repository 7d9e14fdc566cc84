import {
  creditsWithUsd,
  missingCreditsText,
  renewalOfferText,
  usdText,
} from '#src/billing/price-text.ts'
import { paymentAssetOf } from '#src/billing/topups/rules.ts'
import { formatAmount } from '#src/i18n/format.ts'
import { firstLabels } from '#src/i18n/name-list.ts'
import { refusalTitle } from '#src/i18n/refusal.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { messageLines, reportWords } from '#src/pictures/report-text.ts'
import { cardWords } from '#src/pictures/weekly-card.ts'
import type { Notice } from './model.ts'
import { destinationOff, linkedText, optedOutText } from './render-destination.ts'
import {
  dateText,
  type NoticeOf,
  type NoticeReader,
  type NoticeText,
  slotPriceText,
  timeText,
} from './words.ts'

/** Texts of a notice for one reader. Pure. */
export function renderNotice(notice: Notice, reader: NoticeReader): NoticeText {
  switch (notice.kind) {
    case 'slots-end':
      return slotsEnd(notice, reader)
    case 'renewal-ahead':
      return renewalAhead(notice, reader)
    case 'renewed':
      return renewed(notice, reader)
    case 'renewal-failed':
      return renewalFailed(notice, reader)
    case 'suspended':
      return suspended(notice, reader)
    case 'resumed':
      return resumed(notice, reader)
    case 'trial-ends':
      return trialEnds(notice, reader)
    case 'trial-ended':
      return trialEnded(notice, reader)
    case 'destination-off':
      return destinationOff(notice, reader)
    case 'refused':
      return optedOutText(notice, reader)
    case 'topic-gone':
      return {
        title: reader.t('notices:topic-gone.title'),
        lines: [reader.t('notices:topic-gone.why')],
      }
    case 'linked':
      return linkedText(notice, reader)
    case 'credited':
      return credited(notice, reader)
    case 'weekly':
      return weekly(notice, reader)
    case 'epoch-report':
      return epochReport(notice, reader)
    case 'announcement':
      return notice.texts[reader.t.locale]
    default:
      return notice satisfies never
  }
}

/** The same words as on the picture, for channels and readers that do not show it. */
function weekly({ card }: NoticeOf<'weekly'>, { t }: NoticeReader): NoticeText {
  const { week, headline, lines } = cardWords(card)
  return {
    title: [card.name, headline, week].filter((part) => part !== undefined).join(' · '),
    lines: lines.map((line) => t('messages:fieldLine', line)),
  }
}

function epochReport({ name, report }: NoticeOf<'epoch-report'>, { t }: NoticeReader): NoticeText {
  const { epoch, headline } = reportWords(t, report)
  return {
    title: [name, epoch, headline].filter((part) => part !== undefined).join(' · '),
    lines: messageLines(t, report).map(({ label, value }) =>
      t('messages:fieldLine', { label, value }),
    ),
  }
}

function slotsEnd(notice: NoticeOf<'slots-end'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const { quantity, renewal, offer, stopping, endsAt } = notice
  const watches = firstLabels(t, stopping)
  const price = renewal && {
    price: creditsWithUsd(t, renewal.credits),
    count: renewal.missingCredits,
  }
  const stops = renewal === null ? 'slots-end.stops' : 'slots-end.stopsIfShort'
  return {
    title: t('notices:slots-end.title', { count: quantity, date: dateText(reader, endsAt) }),
    lines: [
      ...(price === null ? [] : [missingCreditsText(t, price)]),
      watches === undefined ? t('notices:slots-end.nothing') : t(`notices:${stops}`, { watches }),
      ...(offer === null ? [] : [renewalOfferText(t, offer)]),
    ],
  }
}

function renewalAhead(notice: NoticeOf<'renewal-ahead'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const { quantity, endsAt, balanceCredits } = notice
  const price = creditsWithUsd(t, notice.credits)
  return {
    title: t('notices:renewal-ahead.title', {
      count: quantity,
      date: dateText(reader, endsAt),
      price,
    }),
    lines: [
      t('notices:credited.balance', { balance: creditsWithUsd(t, balanceCredits) }),
      t('notices:renewal-ahead.nothing'),
    ],
  }
}

function renewed(notice: NoticeOf<'renewed'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const { quantity, endsAt, balanceCredits } = notice
  const price = creditsWithUsd(t, notice.credits)
  return {
    title: t('notices:renewed.title', { count: quantity, date: dateText(reader, endsAt), price }),
    lines: [t('notices:renewed.left', { balance: creditsWithUsd(t, balanceCredits) })],
  }
}

function renewalFailed(notice: NoticeOf<'renewal-failed'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const { quantity, missingCredits, nextTryAt, lastTryAt, goneAt, stopping } = notice
  const date = dateText(reader, goneAt)
  const watches = firstLabels(t, stopping)
  const last = timeText(reader, lastTryAt)
  const isLast = nextTryAt?.getTime() === lastTryAt.getTime()
  const tries = () => {
    if (nextTryAt === undefined) return t('notices:renewal-failed.over')
    if (isLast) return t('notices:renewal-failed.nextIsLast', { last })
    return t('notices:renewal-failed.next', { next: timeText(reader, nextTryAt), last })
  }
  return {
    title: t('notices:renewal-failed.title', {
      count: missingCredits,
      usd: usdText(t, missingCredits),
    }),
    lines: [
      tries(),
      watches === undefined
        ? t('notices:renewal-failed.nothing', { count: quantity, date })
        : t('notices:renewal-failed.suspends', { date, watches }),
    ],
  }
}

function suspended({ watches, at }: NoticeOf<'suspended'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  return {
    title: t('notices:suspended.title', { count: watches.length }),
    lines: withoutSlot(reader, watches, at),
  }
}

function withoutSlot(reader: NoticeReader, labels: readonly string[], at: Date): string[] {
  const watches = firstLabels(reader.t, labels)
  if (watches === undefined) return []
  const which = { watches, time: timeText(reader, at) }
  return [reader.t('notices:suspended.which', which), reader.t('notices:suspended.kept')]
}

function resumed({ watches }: NoticeOf<'resumed'>, { t }: NoticeReader): NoticeText {
  return {
    title: t('notices:resumed.title', { count: watches.length }),
    lines: [t('notices:resumed.which', { watches: firstLabels(t, watches) ?? '' })],
  }
}

function trialEnds({ endsAt, stopping }: NoticeOf<'trial-ends'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const watches = firstLabels(t, stopping)
  return {
    title: t('notices:trial-ends.title', { date: dateText(reader, endsAt) }),
    lines: [
      watches === undefined
        ? t('notices:trial-ends.nothing')
        : t('notices:trial-ends.stops', { watches }),
      slotPriceText(t),
    ],
  }
}

function trialEnded({ watches, at }: NoticeOf<'trial-ended'>, reader: NoticeReader): NoticeText {
  const { t } = reader
  const stopped = withoutSlot(reader, watches, at)
  return {
    title: t('notices:trial-ended.title'),
    lines: [
      ...(stopped.length === 0 ? [t('notices:trial-ended.nothing')] : stopped),
      slotPriceText(t),
    ],
  }
}

function credited(notice: NoticeOf<'credited'>, { t }: NoticeReader): NoticeText {
  const { asset, amountUnits, symbol, bonusCredits, purchase } = notice
  const { decimals } = paymentAssetOf(asset)
  const added = notice.credits + bonusCredits
  const amount = formatAmount({ units: amountUnits, decimals, symbol }, t.locale)
  const parts = {
    amount,
    bonus: creditsWithUsd(t, bonusCredits),
    credits: creditsWithUsd(t, notice.credits),
  }
  return {
    title: t('notices:credited.title', { count: added, usd: usdText(t, added) }),
    lines: [
      bonusCredits === 0
        ? t('notices:credited.paid', { amount })
        : t('notices:credited.paidWithBonus', parts),
      ...(purchase === null ? [] : [purchaseLine(t, purchase)]),
      t('notices:credited.balance', { balance: creditsWithUsd(t, notice.balanceCredits) }),
    ],
  }
}

/** Sentence that says how many slots were bought, or why none were. */
function purchaseLine(
  t: Translate,
  { slots: count, reason }: NonNullable<NoticeOf<'credited'>['purchase']>,
): string {
  const slots = t('units:slots', { count })
  return reason === null
    ? t('bot:topup.slotsBought', { slots })
    : t('bot:topup.slotsWaiting', { slots, reason: refusalTitle(t, reason) })
}
