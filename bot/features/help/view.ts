import { packed } from '#src/actions/codec.ts'
import { TRIAL_DAYS } from '#src/billing/price-list.ts'
import { slotTerms } from '#src/billing/price-text.ts'
import { alertButtonNames, alertLegend } from '#src/channels/card/legend.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { type checkedKey, id, type Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { exampleStart } from '../../views/example-start.ts'
import { pageHtml, textHtml } from '../../views/markup.ts'
import {
  act,
  back,
  deepLink,
  inRows,
  menuButton,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { typeLines } from '../new/view.ts'

/** The pages of the help, in order. */
export const HELP_PAGES = [
  'first',
  'types',
  'alerts',
  'credits',
  'groups',
  'api',
  'privacy',
  'commands',
] as const
export type HelpPage = (typeof HELP_PAGES)[number]

/** A command of the reader's menu. */
interface HelpCommand {
  readonly name: string
  /** Key of its description. */
  readonly text: ReturnType<typeof checkedKey>
}

/** Rights of the chat. */
interface ChatRights {
  /** Whether nobody may change watches from this chat. */
  readonly isReceiveOnly: boolean
}

/** Reader's rights and service data for the help. */
export interface HelpOptions {
  readonly commands: readonly HelpCommand[]
  /** URL of the service's pages. */
  readonly pages: string
  /** Where people reach the operator; undefined if the operator names nothing. */
  readonly support: string | undefined
  readonly isLinked: boolean
  /** Whether the chat may change the wallet's data. */
  readonly canWrite: boolean
}

/** Start of the help, with a menu of its pages. */
export function helpMenu(
  { t, isBillingOff }: Reader,
  { pages: url, support, ...rights }: ChatRights & Pick<HelpOptions, 'pages' | 'support'>,
): View {
  const pages = HELP_PAGES.filter((page) => page !== 'credits' || isBillingOff !== true)
  const buttons = pages.map((page) => act(titleOf(t, page), packed('help', { topic: page })))
  return screen(
    [
      t.html('bot:help.title'),
      '',
      introduction(t, rights),
      '',
      t.html('bot:start.safety'),
      supportLine(t, support),
    ],
    [...inRows(buttons, 2), [...guideLink(t, url), menuButton(t)]],
  )
}

/** A button to the guide on the web, where the service's pages can be reached from outside. */
function guideLink(t: Translate, pages: string): readonly Button[] {
  return isOpenLink(pages) ? [{ label: t('pages:docs.guide'), url: `${docsUrl(pages)}/guide` }] : []
}

/** Help for a group, without a menu. */
export function groupHelp(
  reader: Reader,
  { commands, support, ...rights }: ChatRights & Pick<HelpOptions, 'commands' | 'support'>,
): View {
  const { t } = reader
  return screen(
    [
      t.html('bot:help.title'),
      introduction(t, rights),
      '',
      ...commandLines(t, commands),
      '',
      t.html('bot:start.safety'),
      supportLine(t, support),
    ],
    [[{ label: t('bot:button.openPrivate'), url: deepLink(reader, 'help') }]],
  )
}

/** Where people reach the operator: Telegram makes links of addresses itself, also of those for mail. */
function supportLine(t: Translate, support: string | undefined): string | undefined {
  if (support === undefined) return undefined
  return t.html('bot:help.support', { support: id(support.replace(/^mailto:/, '')) })
}

/** What the bot does in this chat. */
function introduction(t: Translate, { isReceiveOnly }: ChatRights): string {
  return t.html(isReceiveOnly ? 'bot:help.receives' : 'bot:help.text')
}

/** One page of the help, with a button for its action. */
export function helpPage(reader: Reader, page: HelpPage, options: HelpOptions): View {
  const { t } = reader
  const toMenu = back(t('bot:button.help'), packed('help', { topic: undefined }))
  return screen(
    [
      t.html('bot:help.pageTitle', { page: titleOf(t, page) }),
      '',
      ...bodyOf(reader, page, options),
      '',
      t.html('bot:start.safety'),
    ],
    [...actsOf(t, page, options), [toMenu]],
  )
}

function titleOf(t: Translate, page: HelpPage): string {
  return t(`bot:button.help.${page}`)
}

function bodyOf(
  reader: Reader,
  page: HelpPage,
  { commands, pages }: HelpOptions,
): readonly string[] {
  const { t, isBillingOff } = reader
  switch (page) {
    case 'first':
      if (isBillingOff === true) return [t.html('bot:help.firstFree')]
      return [
        t.html('bot:help.first', {
          duration: formatDuration(TRIAL_DAYS * DAY_SECONDS, t.locale, 'long'),
        }),
      ]
    case 'types':
      return [
        ...typeLines(reader),
        ...(isBillingOff === true ? [] : ['', t.html('bot:help.types')]),
      ]
    case 'alerts':
      return [
        textHtml(alertLegend(t)),
        t.html('bot:help.states'),
        t.html('bot:help.marks'),
        '',
        t.html('bot:help.alerts', alertButtonNames(t)),
      ]
    case 'credits':
      return [t.html('bot:help.credits', slotTerms(t))]
    case 'groups':
      return [
        t.html('bot:help.groups', {
          recipients: t('bot:button.recipients'),
          add: t('bot:button.addRecipient'),
          kind: t('bot:button.add.telegram'),
        }),
      ]
    case 'api':
      // The URL is shown as text if it cannot be on a button, because it is not reachable from outside.
      return [t.html('bot:help.api'), ...(isOpenLink(pages) ? [] : ['', pageHtml(docsUrl(pages))])]
    case 'privacy':
      return [t.html('bot:help.privacy')]
    case 'commands':
      return commandLines(t, commands)
    default:
      return page satisfies never
  }
}

function commandLines(t: Translate, commands: readonly HelpCommand[]): readonly string[] {
  return commands.map(({ name, text }) =>
    t.html('bot:help.command', { command: id(`/${name}`), description: t(text) }),
  )
}

function docsUrl(pages: string): string {
  return `${pages}/docs`
}

/** Buttons for the actions that a page explains, as far as the chat may use them. */
function actsOf(t: Translate, page: HelpPage, options: HelpOptions): Rows {
  const { isLinked, canWrite, pages } = options
  const connect = act(t('bot:button.connect'), packed('connect', { spend: false }), 'primary')
  const forWriters = (...buttons: readonly Button[]): Rows =>
    canWrite ? [buttons] : isLinked ? [] : [[connect]]
  switch (page) {
    case 'first':
    case 'types':
      return forWriters(act(t('bot:button.newWatch'), packed('new.start'), 'primary'))
    case 'alerts':
      return [[exampleStart(t('bot:button.example'))]]
    case 'credits':
      return forWriters(
        act(t('bot:button.topUp'), packed('topup')),
        act(t('bot:button.slots'), packed('slots')),
      )
    case 'groups':
      return forWriters(act(t('bot:button.addToGroup'), packed('rec.kind', { type: 'telegram' })))
    case 'api':
      return [
        isOpenLink(pages) ? [{ label: t('bot:button.docs'), url: docsUrl(pages) }] : [],
        canWrite ? [act(t('bot:button.recipients'), packed('rec.list'))] : [],
      ]
    case 'privacy':
      return [[act(t('bot:button.deleteData'), packed('stop.data'))]]
    case 'commands':
      return []
    default:
      return page satisfies never
  }
}

/** Answer to `/cancel` when no question is open. */
export function nothingOpen({ t }: Reader): View {
  return screen([t.html('bot:cancel.nothing')], [[menuButton(t)]])
}
