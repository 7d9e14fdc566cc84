import { type ButtonData, packed } from '#src/actions/codec.ts'
import { html, id, type Translate } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import type { Scope } from '#src/kernel/caller.ts'
import type { Address } from '#src/kernel/units.ts'
import type { ConnectCode } from '#src/recipients/connect.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { codeHtml, pageHtml } from '../../views/markup.ts'
import { clockTime } from '../../views/time.ts'
import {
  act,
  back,
  menuButton,
  type Reader,
  screen,
  type View,
  walletName,
  wholeAddress,
} from '../../views/view.ts'
import { rightsText } from '../start/link-view.ts'

/** The free trial, offered after connecting. */
export interface TrialOffer {
  readonly days: number
  readonly terms: { readonly version: string; readonly url: string }
  /** Short code of the terms' version in button data. */
  readonly termsCode: string
}

interface ConnectOptions {
  readonly spend: boolean
  /** Whether the page is reachable from outside; then there is a button to the page. */
  readonly isOpen: boolean
  /** The chat's wallet, if it has one. */
  readonly wallet: Address | undefined
  /** Data of the button for another code. */
  readonly again: string
  /** Data of the button back to where the right to spend was requested. */
  readonly origin: ButtonData
  /** Lines of the purchase that waits for the right to spend: HTML. */
  readonly order: readonly (string | undefined)[]
  /** Whether the chat opened a link to a recipient of the wallet that is to be connected. */
  readonly isForRecipient: boolean
}

/** Instructions for connecting a wallet: the page, the code to compare, and the rights. */
export function connectScreen(
  reader: Reader,
  { url, match, expiresAt }: ConnectCode,
  options: ConnectOptions,
): View {
  const { t } = reader
  const { wallet, spend, order, isForRecipient } = options
  // On a line of its own and without a place to break: people compare it digit by digit.
  const code = codeHtml(match.replaceAll(' ', '\u00a0'))
  const about =
    wallet !== undefined && spend
      ? [
          `💳 ${t.html('bot:connect.allowTitle')}`,
          ...(order.length === 0 ? [] : ['', ...order]),
          '',
          t.html('bot:connect.allowSteps', { code, wallet: walletName(wallet) }),
        ]
      : [
          `🔗 ${t.html('bot:connect.title')}`,
          '',
          ...(isForRecipient ? [t.html('bot:connect.forRecipient'), ''] : []),
          t.html('bot:connect.steps', { code }),
          '',
          t.html(spend ? 'bot:connect.allowsSpend' : 'bot:connect.allows'),
        ]
  const lines = [
    ...about,
    t.html('bot:connect.validUntil', { time: clockTime(reader, expiresAt) }),
    options.isOpen ? undefined : pageHtml(url),
  ]
  const again = act(t('bot:button.newCode'), options.again)
  const open = { label: t('bot:button.openPage'), style: 'primary', url } as const
  return screen(lines, [
    options.isOpen ? [open] : [],
    [{ label: t('bot:button.copyLink'), copy: url }, again],
    [wayBack(t, options)],
  ])
}

function wayBack(t: Translate, { wallet, spend, order, origin }: ConnectOptions): Button {
  if (wallet === undefined) return back(t('bot:button.back'), packed('home'))
  if (!spend) return menuButton(t)
  return back(t(order.length === 0 ? 'bot:button.subscriptions' : 'bot:button.back'), origin)
}

/** Screen of a newly linked chat, with the usual first step as a button. */
export function chatConnected(
  reader: Reader,
  link: { readonly wallet: string; readonly scopes: readonly Scope[] },
  options: {
    /** The trial, if the wallet has not had one. */
    readonly trial: TrialOffer | undefined
    /** Whether there is an unoccupied slot. */
    readonly hasSlot: boolean
    readonly hasWatches: boolean
    /** Button that continues what was begun before connecting. */
    readonly next: { readonly label: string; readonly data: ButtonData } | undefined
  },
): View {
  const { t, timezone } = reader
  const { trial, next } = options
  const lines = [
    `✅ ${t.html('bot:connect.done', { address: wholeAddress(link.wallet) })}`,
    t.html('bot:connect.rights', { rights: rightsText(reader, link.scopes) }),
    t.html('bot:connect.zone', { zone: id(modernZone(timezone)) }),
    ...(trial === undefined ? [] : ['', trialText(t, trial)]),
  ]
  const start = (label: string, next: string, termsCode: string, style?: 'primary') =>
    act(label, packed('trial.start', { next, terms: termsCode }), style)
  const trialButtons =
    trial === undefined
      ? []
      : [
          [
            start(
              t('bot:button.trialWallet'),
              'wallet',
              trial.termsCode,
              next ? undefined : 'primary',
            ),
          ],
          [start(t('bot:button.trialChoose'), 'choose', trial.termsCode)],
        ]
  const first =
    next === undefined && trial === undefined ? nextButtons(t, link.scopes, options) : []
  const isOffered = trial !== undefined || next !== undefined
  return screen(lines, [
    next === undefined ? [] : [act(next.label, next.data, 'primary')],
    ...trialButtons,
    ...first,
    [
      isOffered ? back(t('bot:button.later'), packed('home')) : menuButton(t),
      act(t('bot:button.zone'), packed('settings.zone', { region: 'all', page: 1 })),
    ],
  ])
}

function nextButtons(
  t: Translate,
  scopes: readonly Scope[],
  options: { readonly hasSlot: boolean; readonly hasWatches: boolean },
) {
  if (options.hasWatches) {
    const list = packed('watch.list', { page: 1 })
    return [[act(t('bot:button.watches'), list, 'primary')]]
  }
  if (!scopes.includes('write')) return []
  return options.hasSlot
    ? [[act(t('bot:button.newWatch'), packed('new.start'), 'primary')]]
    : [[act(t('bot:button.getSlot'), packed('slots'), 'primary')]]
}

/** Description of the trial, and the terms that its start accepts. */
export function trialText(t: Translate, { days, terms }: TrialOffer): string {
  return t.html('bot:trial.offer', {
    count: days,
    terms: html(`<a href="${terms.url}">${t.html('bot:terms.link')}</a>`),
    version: id(terms.version),
  })
}

/**
 * Message after the page's reader declined, or saw another code.
 * @param data of the button for another code
 */
export function connectDeclined({ t }: Reader, data: string): View {
  return screen(
    [t.html('bot:connect.declined')],
    [[act(t('bot:button.retry'), data)], [menuButton(t)]],
  )
}

/** Message of a code that a newer one replaced. */
export function connectReplaced({ t }: Reader): View {
  return screen([t.html('bot:connect.replaced')], [])
}

/**
 * Message of an expired code.
 * @param data of the button for another code
 */
export function connectExpired({ t }: Reader, data: string): View {
  const again = act(t('bot:button.newCode'), data, 'primary')
  return screen([t.html('bot:connect.expired')], [[again], [menuButton(t)]])
}

/** Screen of the terms, with a button that accepts them. */
export function trialTerms({ t }: Reader, trial: TrialOffer, accept: ButtonData): View {
  return screen(
    [`📄 ${trialText(t, trial)}`],
    [[act(t('bot:button.startTrial'), accept, 'primary')], [menuButton(t)]],
  )
}
