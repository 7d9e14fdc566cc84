import { packed } from '#src/actions/codec.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import {
  act,
  choiceButton,
  inRows,
  menuButton,
  pageRow,
  type Reader,
  screen,
  type View,
  walletName,
} from '../../views/view.ts'

/** A wallet to which the chat is linked. */
export interface LinkedWallet {
  readonly recipientId: number
  readonly address: string
  readonly scopes: readonly Scope[]
  readonly watches: number
  /** Whether the chat's screens are about this wallet. */
  readonly isChosen: boolean
}

/** Number of wallets on one page. */
export const WALLETS_PER_PAGE = 8
const IN_ROW = 2

/**
 * A page of the wallets whose alerts are sent to this chat; the chosen wallet is marked. In a group the
 * rights of the chat and links to wallets are omitted.
 */
export function walletsScreen(
  { t, isGroup }: Reader,
  shown: readonly LinkedWallet[],
  { page, pages }: { readonly page: number; readonly pages: number },
): View {
  const isOne = pages === 1 && shown.length === 1
  const lines = [
    t.html('bot:wallets.title'),
    ...shown.map((linkedWallet) => walletLine(t, linkedWallet, isGroup)),
    ...(isOne ? [] : ['', t.html('bot:wallets.help')]),
  ]
  const choices = shown.map(({ recipientId, address, isChosen }) =>
    choiceButton(walletName(address), isChosen, packed('wallet.use', { id: recipientId })),
  )
  return screen(lines, [
    ...(isOne ? [] : inRows(choices, IN_ROW)),
    pageRow(page, pages, (to) => packed('wallet.page', { page: to })),
    [
      ...(isGroup
        ? []
        : [act(t('bot:button.connectAnother'), packed('connect', { spend: false }))]),
      act(t('bot:button.unlinkGroup'), packed('stop')),
    ],
    [menuButton(t)],
  ])
}

function walletLine(
  t: Translate,
  { address, watches, scopes, isChosen }: LinkedWallet,
  isGroup: boolean,
): string {
  const values = {
    wallet: id(walletName(address)),
    watches: t('units:watches', { count: watches }),
  }
  const line = isGroup
    ? t.html('bot:wallets.lineGroup', values)
    : t.html('bot:wallets.line', { ...values, rights: rightsOf(t, scopes) })
  return ticked(line, isChosen)
}

function rightsOf(t: Translate, scopes: readonly Scope[]): string {
  if (!scopes.includes('write')) return t('bot:wallets.receives')
  return t(scopes.includes('spend') ? 'bot:wallets.spends' : 'bot:wallets.manages')
}

function ticked(text: string, isChosen: boolean): string {
  return isChosen ? `✓ ${text}` : text
}
