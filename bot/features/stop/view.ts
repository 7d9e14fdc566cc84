import { packed } from '#src/actions/codec.ts'
import { id } from '#src/i18n/translate.ts'
import {
  act,
  back,
  menuButton,
  type Reader,
  screen,
  type View,
  walletName,
} from '../../views/view.ts'

/** A wallet whose alerts are sent to the chat. */
export interface LeavingWallet {
  readonly recipientId: number
  readonly address: string
  /** Number of watches that keep running. */
  readonly watches: number
  /** Whether the wallet has no other recipient. */
  readonly isLast: boolean
}

interface StopOptions {
  /** Whether there are buttons. */
  readonly buttons: boolean
  /** Reason for missing buttons: HTML. */
  readonly notice?: string
}

/** The effects of leaving, and mutes as alternatives. Shows four wallets at most. */
export function stopScreen(
  reader: Reader,
  wallets: readonly LeavingWallet[],
  options: StopOptions,
): View {
  const { t, isGroup } = reader
  const shown = wallets.slice(0, WALLETS_MAX)
  const isMany = shown.length > 1
  const lines = [
    options.notice,
    `👋 ${t.html('bot:stop.title')}`,
    '',
    shown.length === 0
      ? t.html('bot:stop.notLinked')
      : t.html(isGroup ? 'bot:stop.effectGroup' : 'bot:stop.effect'),
    ...shown.map(({ address, watches }) =>
      t.html('bot:stop.wallet', {
        wallet: id(walletName(address)),
        watches: t('units:watches', { count: watches }),
      }),
    ),
    ...shown
      .filter(({ isLast }) => isLast)
      .map(({ address }) => `⚠️ ${t.html('bot:stop.last', { wallet: id(walletName(address)) })}`),
  ]
  const unlink = (leavingWallet: LeavingWallet) =>
    act(
      isMany
        ? t('bot:button.unlinkOne', { wallet: id(walletName(leavingWallet.address)) })
        : t('bot:button.unlink'),
      packed('stop.unlink', { id: leavingWallet.recipientId }),
      'danger',
    )
  const rows = [
    shown.length === 0
      ? []
      : [act(t('bot:button.onlyMute'), packed('mute.all', { duration: '8h' }))],
    ...shown.map((leavingWallet) => [unlink(leavingWallet)]),
    isGroup ? [] : [act(t('bot:button.deleteData'), packed('stop.data'))],
    [back(t('bot:button.keep'), packed('home'))],
  ]
  return screen(lines, options.buttons ? rows : [])
}

const WALLETS_MAX = 4

/**
 * Screen after leaving a wallet.
 * @param isLinked whether the chat is still linked to another wallet
 */
export function walletLeft(
  { t, isGroup }: Reader,
  options: { readonly address: string; readonly isLinked: boolean },
): View {
  const line = t.html('bot:stop.done', { wallet: id(walletName(options.address)) })
  if (options.isLinked) return screen([line], [[menuButton(t)]])
  const connect = act(t('bot:button.connect'), packed('connect', { spend: false }), 'primary')
  return screen(
    [line, t.html(isGroup ? 'bot:stop.doneGroup' : 'bot:stop.donePrivate')],
    isGroup ? [] : [[connect]],
  )
}

/** Asks for confirmation of deleting all data of a person. */
export function dataQuestion({ t }: Reader): View {
  return screen(
    [
      t.html('bot:stop.dataQuestion'),
      '',
      t.html('bot:stop.dataGoes'),
      t.html('bot:stop.dataStays'),
    ],
    [
      [act(t('bot:button.deleteMyData'), packed('stop.dataYes'), 'danger')],
      [back(t('bot:button.keep'), packed('stop'))],
    ],
  )
}

/** Screen after the deletion. */
export function dataDeleted({ t }: Reader): View {
  return screen([t.html('bot:stop.dataDeleted'), t.html('bot:stop.dataStays')])
}
