/** The guide for people: the sections of `/docs/guide`, in the order in which a person needs them. */
import { TRIAL_DAYS } from '#src/billing/price-list.ts'
import { slotTerms } from '#src/billing/price-text.ts'
import { alertButtonNames, alertLegend } from '#src/channels/card/legend.ts'
import { formatDuration } from '#src/i18n/format.ts'
import type { TextKey, Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { App } from '#src/operations/define.ts'
import { type HelpBlock, parseHelpText } from '../help-text.ts'
import { watchTypes } from './watches.ts'

/** A section that stands alone: paragraphs and lists as plain text, and links to what belongs to it. */
export interface GuideSection {
  /** Anchor on the page. */
  readonly id: string
  readonly title: string
  readonly blocks: readonly HelpBlock[]
  /** The watch types, in the section about them. */
  readonly types: ReturnType<typeof watchTypes>
  readonly links: readonly { readonly path: string; readonly label: string }[]
}

/** Path of the guide. */
export const GUIDE_PATH = '/docs/guide'

/** Pages and sections that a section can lead to, with their names. */
const LINKS = {
  '/providers': 'pages:providers.title',
  '/docs/watches': 'pages:docs.watches',
  '/docs/api': 'pages:docs.api',
  '/docs/webhooks': 'pages:docs.webhooks',
  '#recipients': 'pages:docs.guide.recipients',
  '#types': 'pages:docs.guide.types',
  '#credits': 'pages:docs.guide.credits',
} as const satisfies Readonly<Record<string, TextKey>>

type Link = keyof typeof LINKS

/** The sections in reading order. */
const IDS = [
  'first',
  'lookup',
  'follow',
  'types',
  'alerts',
  'mute',
  'recipients',
  'groups',
  'quiet',
  'digest',
  'reminders',
  'escalation',
  'credits',
  'leave',
  'programs',
  'sites',
] as const
type Id = (typeof IDS)[number]

/** Where a section leads. */
const LINKS_OF: Partial<Record<Id, readonly Link[]>> = {
  first: ['#types'],
  lookup: ['/providers'],
  follow: ['/providers'],
  types: ['/docs/watches', '#credits'],
  recipients: ['/docs/webhooks'],
  escalation: ['#recipients'],
  programs: ['/docs/api', '/docs/webhooks'],
  sites: ['/providers'],
}

/** The sections in reading order; slots and credits only where the service sells them. */
export function guideSections(app: App, t: Translate): readonly GuideSection[] {
  const isBilled = app.billing.enabled
  return IDS.filter((id) => isBilled || id !== 'credits').map((id) => ({
    id,
    title: t(`pages:docs.guide.${id}`),
    blocks: parseHelpText(textOf(t, id, isBilled)),
    types: id === 'types' ? watchTypes(app, t) : [],
    links: (LINKS_OF[id] ?? [])
      .filter((path) => isBilled || path !== '#credits')
      .map((path) => ({ path, label: t(LINKS[path]) })),
  }))
}

/** The text of a section; lines that begin with a number are steps. */
function textOf(t: Translate, id: Id, isBilled: boolean): string {
  switch (id) {
    case 'first':
      return firstSteps(t, isBilled)
    case 'types':
      return typesText(t, isBilled)
    case 'alerts':
      return alertsText(t)
    case 'groups':
      return groupsText(t)
    case 'follow':
      return t('pages:docs.guide.follow.text', { follow: t('bot:button.follow') })
    case 'mute':
      return [
        t('pages:docs.guide.mute.text', { acknowledge: t('messages:button.acknowledge') }),
        t('pages:docs.guide.mute.note'),
      ].join('\n')
    case 'recipients':
      return t('pages:docs.guide.recipients.text', { recipients: t('bot:button.recipients') })
    case 'quiet':
    case 'digest':
    case 'reminders':
      return t(`pages:docs.guide.${id}.text`, { settings: t('bot:button.settings') })
    case 'credits':
      return t('pages:docs.guide.credits.text', slotTerms(t))
    case 'lookup':
    case 'escalation':
    case 'leave':
    case 'programs':
    case 'sites':
      return t(`pages:docs.guide.${id}.text`)
    default:
      return id satisfies never
  }
}

/** The lines of a section, for the search. */
export function plainLines({ blocks, types }: GuideSection): readonly string[] {
  const lines = blocks.flatMap((block) => (block.kind === 'text' ? [block.line] : block.lines))
  return [...lines, ...types.flatMap(({ label, description }) => [label, description])]
}

function firstSteps(t: Translate, isBilled: boolean): string {
  const duration = formatDuration(TRIAL_DAYS * DAY_SECONDS, t.locale, 'long')
  const steps = [
    t('pages:docs.chat.open'),
    t('pages:docs.guide.first.connect'),
    ...(isBilled ? [t('pages:docs.guide.first.trial', { duration })] : []),
    t('pages:docs.guide.first.watch'),
    t('pages:docs.guide.first.alerts'),
  ]
  return steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
}

function typesText(t: Translate, isBilled: boolean): string {
  const about = t('pages:docs.guide.types.text')
  return isBilled ? `${about}\n${t('pages:docs.guide.types.slots')}` : about
}

function alertsText(t: Translate): string {
  return [
    t('pages:docs.guide.alerts.text'),
    alertLegend(t),
    t('pages:docs.guide.alerts.help', alertButtonNames(t)),
    t('pages:docs.guide.alerts.recovery'),
    t('bot:help.states'),
  ].join('\n')
}

function groupsText(t: Translate): string {
  const groups = t('pages:docs.guide.groups.text', {
    recipients: t('bot:button.recipients'),
    add: t('bot:button.addRecipient'),
    kind: t('bot:button.add.telegram'),
  })
  return `${groups}\n${t('pages:docs.guide.groups.channel')}`
}
