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

/** A wallet whose alerts come to the chat. */
export interface LeavingWallet {
  readonly recipientId: number
  readonly address: string
  /** Watches that go on. */
  readonly watches: number
  /** Nobody else of it can be told. */
  readonly isLast: boolean
}

interface StopOptions {
  /** Without, the same text and nothing to press. */
  readonly buttons: boolean
  /** In a group nobody has data of their own to delete. */
  readonly notice?: string
}

/** What leaving means, and silence instead. Most wallets a screen has room for: four. */
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
    shown.length === 0 ? t.html('bot:stop.notLinked') : t.html('bot:stop.effect'),
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
  const unlink = (one: LeavingWallet) =>
    act(
      isMany
        ? t('bot:button.unlinkOne', { wallet: id(walletName(one.address)) })
        : t('bot:button.unlink'),
      packed('stop.unlink', { id: one.recipientId }),
      'danger',
    )
  const rows = [
    shown.length === 0
      ? []
      : [act(t('bot:button.onlyMute'), packed('mute.all', { duration: '8h' }))],
    ...shown.map((one) => [unlink(one)]),
    isGroup ? [] : [act(t('bot:button.deleteData'), packed('stop.data'))],
    [back(t('bot:button.keep'), packed('home'))],
  ]
  return screen(lines, options.buttons ? rows : [])
}

const WALLETS_MAX = 4

/** A chat that has left a wallet. @param isLinked it still belongs to another */
export function left(
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

/** Asks once before everything that is kept of a person goes. */
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

/** After it. */
export function dataDeleted({ t }: Reader): View {
  return screen([t.html('bot:stop.dataDeleted'), t.html('bot:stop.dataStays')])
}
