/** The guide for people: sections of `/docs/guide` from the texts of the bot's help and settings. */
import { slotTerms } from '#src/billing/price-text.ts'
import { alertButtonNames, alertLegend } from '#src/channels/legend.ts'
import { escapeHtml, html, type Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { watchTypes } from './docs-watches.ts'
import { type HelpBlock, parseHelpText } from './help-text.ts'

/** A section: paragraphs and lists as HTML, then links to the watch types in the one about them. */
export interface GuideSection {
  /** Anchor on the page. */
  readonly id: string
  readonly title: string
  readonly blocks: readonly HelpBlock[]
  readonly types: ReturnType<typeof watchTypes>
}

/** Path of the guide. */
export const GUIDE_PATH = '/docs/guide'

/** The sections in reading order; the one about credits only where the service sells slots. */
export function guideSections(app: App, t: Translate): readonly GuideSection[] {
  const isBilled = app.billing.enabled
  const about = (id: string, title: string, ...texts: readonly string[]): GuideSection => ({
    id,
    title,
    blocks: blocksOf(texts),
    types: [],
  })
  const types = about(
    'types',
    t('bot:button.help.types'),
    ...(isBilled ? [t.html('bot:help.types')] : []),
  )
  return [
    about('first', t('bot:button.help.first'), firstSteps(t)),
    { ...types, types: watchTypes(app, t) },
    about(
      'alerts',
      t('bot:button.help.alerts'),
      alertLegend(t),
      t.html('bot:help.states'),
      t.html('bot:help.alerts', alertButtonNames(t)),
    ),
    about(
      'recipients',
      t('bot:button.recipients'),
      t.html('bot:command.recipients'),
      named(t, t('bot:button.default'), t.html('bot:rec.isDefault.yes')),
      named(t, t('bot:field.watch.minSeverity.label'), t.html('bot:rec.severityHelp')),
    ),
    about('escalation', t('pages:docs.guide.escalation'), t.html('bot:escalation.help')),
    about('reminders', t('bot:button.reminders'), t.html('bot:settings.remind.std')),
    about('quiet', t('bot:button.quiet'), t.html('bot:quiet.help')),
    about('digest', t('bot:button.digest'), t.html('bot:digest.help')),
    ...(isBilled
      ? [about('credits', t('bot:button.help.credits'), t.html('bot:help.credits', slotTerms(t)))]
      : []),
    about('groups', t('bot:button.help.groups'), groupSteps(t)),
  ]
}

/** The lines of a section without markup, for the search. */
export function plainLines({ blocks, types }: GuideSection): readonly string[] {
  const lines = blocks.flatMap((block) => (block.kind === 'text' ? [block.line] : block.lines))
  const plain = lines.map((line) => line.replaceAll(/<[^>]*>/g, ''))
  return [...plain, ...types.flatMap(({ label, description }) => [label, description])]
}

/** A text after the name of what it explains. */
function named(t: Translate, name: string, text: string): string {
  const label = html(`<b>${escapeHtml(name)}</b>`)
  return t.html('messages:fieldLine', { label, value: html(text) })
}

function firstSteps(t: Translate): string {
  const steps = ['open', 'connect', 'watch'] as const
  return steps.map((step, index) => `${index + 1}. ${t.html(`pages:docs.chat.${step}`)}`).join('\n')
}

function groupSteps(t: Translate): string {
  return t.html('bot:help.groups', {
    recipients: t('bot:button.recipients'),
    add: t('bot:button.addRecipient'),
    kind: t('bot:button.add.telegram'),
  })
}

function blocksOf(texts: readonly string[]): readonly HelpBlock[] {
  return parseHelpText(texts.join('\n')).filter(
    (block) => block.kind !== 'text' || block.line !== '',
  )
}
