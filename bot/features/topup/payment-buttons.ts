import { formatUnits } from 'viem/utils'
import type { Topup } from '#src/billing/topups/model.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Reader } from '../../views/view.ts'
import { topupPageUrl } from './page-link.ts'

/** Buttons for paying and copying. */
export function payRows(reader: Reader, topup: Topup): Rows {
  const { t } = reader
  const { handle, pageQr, amount, decimals, payTo, approval, transaction } = topup
  const page = topupPageUrl(reader, topup)
  const { destinationTag } = topup
  const isXrp = destinationTag !== null
  const copyAmount = copyButton(t('bot:button.copyAmount'), formatUnits(amount, decimals))
  const copyAddress = copyButton(t('bot:button.copyAddress'), payTo)
  const copyLink = copyButton(t('bot:button.copyLink'), page)
  // No wallet in a browser pays XRP.
  const label = t(isXrp ? 'pages:pay.details' : 'bot:button.payInBrowser')
  const ways = [
    ...(isXrp ? [linkButton(t('bot:button.openXaman'), pageQr, 'primary')] : []),
    ...(isOpenLink(page) ? [linkButton(label, page, isXrp ? undefined : 'primary')] : []),
  ]
  const copies = isXrp
    ? [
        [copyAddress, copyButton(t('bot:button.copyTag'), String(destinationTag))],
        [copyAmount, copyLink],
      ]
    : approval !== null
      ? [[copyAmount, copyLink]]
      : [
          [copyAmount, copyAddress],
          [copyButton(t('bot:button.copyData'), transaction?.data ?? handle), copyLink],
        ]
  return [ways, ...copies]
}

export function linkButton(label: string, url: string, style?: 'primary'): Button {
  return { label, url, ...(style !== undefined && { style }) }
}

function copyButton(label: string, text: string): Button {
  return { label, copy: text }
}
