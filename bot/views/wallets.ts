import { id, type Translate } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { packed } from '../callback-data.ts'
import { act, inRows, menuButton, type Reader, screen, type View, walletName } from './view.ts'

/** A wallet the chat is linked to. */
export interface LinkedWallet {
  readonly recipientId: number
  readonly address: string
  readonly scopes: readonly Scope[]
  readonly watches: number
  /** The chat's screens are about this one. */
  readonly isChosen: boolean
}

/** As many as a screen has room for. */
const WALLETS_MAX = 10
const IN_ROW = 2

/** The wallets whose alerts come here, and which of them the screens are about. */
export function walletsScreen({ t }: Reader, wallets: readonly LinkedWallet[]): View {
  const shown = wallets.slice(0, WALLETS_MAX)
  const hidden = wallets.length - shown.length
  const isOne = wallets.length === 1
  const lines = [
    t.html('bot:wallets.title'),
    ...shown.map((one) => walletLine(t, one)),
    hidden === 0 ? undefined : t.html('bot:wallets.more', { count: hidden }),
    ...(isOne ? [] : ['', t.html('bot:wallets.help')]),
  ]
  const choices = shown.map(({ recipientId, address, isChosen }) =>
    act(ticked(walletName(address), isChosen), packed('wallet.use', { id: recipientId })),
  )
  return screen(lines, [
    ...(isOne ? [] : inRows(choices, IN_ROW)),
    [
      act(t('bot:button.connectAnother'), packed('connect', { spend: false })),
      act(t('bot:button.unlinkGroup'), packed('stop')),
    ],
    [menuButton(t)],
  ])
}

function walletLine(t: Translate, { address, watches, scopes, isChosen }: LinkedWallet): string {
  const line = t.html('bot:wallets.line', {
    wallet: id(walletName(address)),
    watches: t('units:watches', { count: watches }),
    rights: rightsOf(t, scopes),
  })
  return ticked(line, isChosen)
}

function rightsOf(t: Translate, scopes: readonly Scope[]): string {
  if (!scopes.includes('write')) return t('bot:wallets.receives')
  return t(scopes.includes('spend') ? 'bot:wallets.spends' : 'bot:wallets.manages')
}

function ticked(text: string, isChosen: boolean): string {
  return isChosen ? `✓ ${text}` : text
}
