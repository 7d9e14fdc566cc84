import { formatUnits } from 'viem/utils'
import { packed } from '#src/actions/codec.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { act, type Reader } from '../../views/view.ts'
import { topupPageUrl } from './page-link.ts'

/** Buttons for paying: in a wallet for XRP, else on the page; and the other ways, which tokens do not have. */
export function payRows(reader: Reader, topup: Topup): Rows {
  const { t } = reader
  const { handle, pageQr, approval, destinationTag } = topup
  const pay =
    destinationTag === null
      ? pageButton(reader, topup, t('bot:button.payInBrowser'), 'primary')
      : [linkButton(t('bot:button.openXaman'), pageQr, 'primary')]
  const ways = act(t('bot:button.otherWays'), packed('topup.ways', { handle }))
  return [pay, approval === null ? [ways] : []]
}

/** Buttons that copy what a payment by hand needs. For XRP also the page, which no wallet in a browser can pay. */
export function copyRows(reader: Reader, topup: Topup): Rows {
  const { t } = reader
  const { amount, decimals, payTo, destinationTag } = topup
  const tag =
    destinationTag === null ? [] : [copyButton(t('bot:button.copyTag'), String(destinationTag))]
  return [
    [
      copyButton(t('bot:button.copyAmount'), formatUnits(amount, decimals)),
      copyButton(t('bot:button.copyAddress'), payTo),
      ...tag,
    ],
    destinationTag === null ? [] : pageButton(reader, topup, t('pages:pay.details')),
  ]
}

function pageButton(
  reader: Reader,
  topup: Topup,
  label: string,
  style?: 'primary',
): readonly Button[] {
  const page = topupPageUrl(reader, topup)
  return isOpenLink(page) ? [linkButton(label, page, style)] : []
}

export function linkButton(label: string, url: string, style?: 'primary'): Button {
  return { label, url, ...(style !== undefined && { style }) }
}

function copyButton(label: string, text: string): Button {
  return { label, copy: text }
}
