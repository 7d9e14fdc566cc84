import { packed } from '#src/actions/codec.ts'
import { type Html, type Translate, typed } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import {
  accountFields,
  behindName,
  holdingFields,
  providersBehind,
  providerTexts,
} from '#src/pictures/look-up-text.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { AddressAnswer } from '#src/watches/look-up.ts'
import type { NamedProvider } from '#src/watches/provider-names.ts'
import { followButton } from '../../views/follow-button.ts'
import { textHtml } from '../../views/markup.ts'
import { WARNING } from '../../views/refusals.ts'
import {
  act,
  inRows,
  labelWithName,
  menuButton,
  type Reader,
  screen,
  type View,
  wholeAddress,
} from '../../views/view.ts'

/** What a chat may do about an address: connect a wallet first, create watches, or only read. */
export type LookUpRights = 'unlinked' | 'write' | 'read'

const CHOICES_IN_ROW = 2
/** Providers behind an account that have buttons: those with the largest delegations, then stakes. */
const BEHIND_MAX = 4

/** What is known about an address, as on the start page, with the next steps. */
export function lookUpCard(reader: Reader, answer: AddressAnswer, rights: LookUpRights): View {
  const { t, isGroup } = reader
  const address = answer.kind === 'provider' ? answer.view.provider : answer.address
  const isKnown = answer.kind !== 'unavailable'
  const again = act(t('bot:button.retry'), packed('look.up', { address }))
  const rounds = act(t('bot:button.providerStatus'), packed('status.provider', { address }))
  const connect = act(t('bot:button.connect'), packed('connect', { spend: false }))
  const showsRounds = rights !== 'unlinked' && answer.kind !== 'account'
  const isFollowable = answer.kind === 'provider' && !isGroup
  const follow = isFollowable ? [followButton(t, address)] : []
  const watch = rights === 'read' ? [] : [watchButton(reader, answer, address, rights)]
  return screen(
    [headOf(t, answer, wholeAddress(address)), ...linesOf(reader, answer)],
    [
      [...follow, ...watch],
      showsRounds ? [rounds] : [],
      ...behindRows(reader, answer, rights),
      isKnown ? [] : [again],
      rights === 'unlinked' ? [connect] : [],
      [menuButton(t)],
    ],
  )
}

function headOf(t: Translate, answer: AddressAnswer, address: Html): string {
  const name = answer.kind === 'provider' ? answer.name : undefined
  return name === undefined
    ? address.html
    : t.html('bot:provider.head', { name: typed(name), address })
}

function linesOf({ t, timezone }: Reader, answer: AddressAnswer): readonly string[] {
  switch (answer.kind) {
    case 'provider': {
      const { rounds, lines } = providerTexts(t, answer.view)
      return [rounds, ...lines].map((line) => textHtml(line))
    }
    case 'account':
      return [...accountFields(t, answer), ...holdingFields(t, answer, timezone)].map(
        ({ label, value, usd }) => {
          const shown = usd === undefined ? value : `${value} · ${usd}`
          return t.html('messages:fieldLine', { label, value: shown })
        },
      )
    case 'unavailable':
      return [`${WARNING} ${t.html('pages:home.answer.unavailable')}`]
    default:
      return answer satisfies never
  }
}

/** Starts the watch that fits the address; a chat without a wallet connects one first. */
function watchButton(
  { t, isGroup }: Reader,
  { kind }: AddressAnswer,
  address: Address,
  rights: LookUpRights,
): Button {
  const isProvider = kind === 'provider'
  const type = isProvider ? 'provider-fsp' : 'wallet-balance'
  const ofProvider = isGroup ? 'bot:button.watchProvider' : 'bot:button.watchMore'
  const label = t(isProvider ? ofProvider : 'bot:button.watchBalance')
  const verb = rights === 'unlinked' ? 'connect.watch' : 'new.type'
  return act(label, packed(verb, { type, address }), 'primary')
}

/** For each provider behind an account: follow it, or watch it. */
function behindRows(
  { t, isGroup }: Reader,
  answer: AddressAnswer,
  rights: LookUpRights,
): readonly (readonly Button[])[] {
  if (answer.kind !== 'account') return []
  return providersBehind(answer)
    .slice(0, BEHIND_MAX)
    .map((behind) => {
      const { provider: address } = behind
      const label = (key: 'bot:button.followNamed' | 'bot:button.watchNamed') =>
        labelWithName(behindName(behind), (name) => t(key, { name: typed(name) }), CHOICES_IN_ROW)
      const verb = rights === 'unlinked' ? 'connect.watch' : 'new.type'
      const watch = packed(verb, { type: 'provider-fsp', address })
      return [
        ...(isGroup
          ? []
          : [act(label('bot:button.followNamed'), packed('follow.on', { address }))]),
        ...(rights === 'read' ? [] : [act(label('bot:button.watchNamed'), watch)]),
      ]
    })
}

/** Providers to choose from. */
export function lookUpChoice(
  { t }: Reader,
  input: string,
  providers: readonly NamedProvider[],
): View {
  const buttons = providers.map(({ provider, name }) =>
    act(
      labelWithName(name, (label) => label, CHOICES_IN_ROW),
      packed('look.up', { address: provider }),
    ),
  )
  return screen(
    [t.html('bot:provider.several', { input: typed(input) })],
    [...inRows(buttons, CHOICES_IN_ROW), [menuButton(t)]],
  )
}
