/** All places of the docs for their search: each page and section, with all its headings and paragraphs. */
import { WEBHOOK_HEADERS } from '#src/channels/hooks/webhook.ts'
import { signalHelp } from '#src/i18n/signal-help.ts'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import { ERROR_CODES, statusOfErrorCode } from '#src/kernel/problems.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import type { App } from '#src/operations/define.ts'
import type { WatchTypeDefinition } from '#src/watches/define.ts'
import type { SignalDefinition } from '#src/watches/signal.ts'
import type { FieldRow } from './api.ts'
import { readApiReference } from './api-reference.ts'
import { GUIDE_PATH, guideSections, plainLines } from './guide.ts'
import { problemIndex, titleOfCode } from './problems.ts'
import { asHeading } from './side.ts'
import { VERIFIERS, VERIFY_STEPS, WEBHOOKS_PATH } from './verifiers.ts'
import { eventList, offeredTypes, typePath } from './watches.ts'

/** One place in the docs. */
export interface Place {
  readonly path: string
  /** Anchor on the page, with its `#`; may be empty. */
  readonly anchor: string
  readonly title: string
  readonly text: string
  /** Name for programs, such as a method and path; undefined if there is none. */
  readonly code?: string | undefined
}

/** A place with what the search knows about it. */
export interface SearchedPlace extends Place {
  readonly kind: 'guide' | 'page' | 'operation' | 'watch' | 'code'
  /** Other words for the subject, which people type and the place does not say. */
  readonly words?: string
  /** The rest of the text of the place. */
  readonly body?: string
}

/** Every place of the docs, and the pages for people beside them. */
export function docsPlaces(app: App, t: Translate): readonly SearchedPlace[] {
  return [
    ...guide(app, t),
    ...start(app, t),
    ...webhooks(app, t),
    ...api(app, t),
    ...watches(app, t),
    ...events(app, t),
    ...problems(t),
    ...otherPages(app, t),
  ]
}

/** Sections of the guide for which people have other words than the guide. */
const GUIDE_WORDS = [
  'first',
  'lookup',
  'mute',
  'recipients',
  'groups',
  'quiet',
  'credits',
  'leave',
] as const

function guide(app: App, t: Translate): SearchedPlace[] {
  const sections = guideSections(app, t).map((section) => {
    const { id, title } = section
    const [text = '', ...more] = plainLines(section)
    const known = GUIDE_WORDS.find((name) => name === id)
    return {
      kind: 'guide',
      path: GUIDE_PATH,
      anchor: `#${id}`,
      title,
      text,
      words: known === undefined ? '' : t(`pages:docs.words.${known}`),
      body: more.join('\n'),
    } as const
  })
  return [page(GUIDE_PATH, t('pages:docs.guide'), t('pages:home.lead')), ...sections]
}

function start({ publicUrl }: App, t: Translate): SearchedPlace[] {
  const section = (id: string, title: string, texts: readonly string[], words = '') => {
    const [text = '', ...more] = texts
    return { ...page('/docs', title, text, words), anchor: `#${id}`, body: more.join('\n') }
  }
  return [
    page('/docs', t('pages:docs.title'), t('pages:docs.lead'), t('pages:docs.start')),
    section('chat', t('pages:docs.chat'), [
      t('pages:docs.chat.open'),
      t('pages:docs.chat.connect'),
      t('pages:docs.chat.watch'),
    ]),
    section(
      'rest',
      t('pages:docs.rest'),
      [
        t('operations:info.security'),
        t('pages:docs.rest.page'),
        t('pages:docs.rest.challenge'),
        t('pages:docs.rest.token'),
        t('pages:docs.rest.terms'),
        t('pages:docs.rest.watch'),
        t('pages:docs.rest.program'),
        t('pages:docs.rest.key'),
        t('pages:docs.rest.done'),
      ],
      t('pages:docs.words.rest'),
    ),
    section(
      'client',
      t('pages:docs.client'),
      [t('pages:docs.client.text')],
      t('pages:docs.words.client'),
    ),
    section('hook', t('pages:docs.hook'), [t('pages:docs.hook.text')]),
    section(
      'agents',
      t('pages:docs.agents'),
      [t('pages:docs.agents.text', { url: `${publicUrl}/mcp` })],
      t('pages:docs.words.agents'),
    ),
  ]
}

function webhooks(app: App, t: Translate): SearchedPlace[] {
  const section = (id: string, title: string, text: string, body: readonly string[] = []) => ({
    ...page(WEBHOOKS_PATH, title, text),
    anchor: `#${id}`,
    body: body.join('\n'),
  })
  const headers = WEBHOOK_HEADERS.flatMap(({ name }) => [
    name,
    t(checkedKey(`pages:docs.header.${name}`)),
  ])
  const [raw = '', ...steps] = VERIFY_STEPS.map((step) => t(`pages:docs.verify.${step}`))
  const verify = t('pages:docs.webhooks.verify')
  return [
    page(WEBHOOKS_PATH, t('pages:docs.webhooks'), t('pages:docs.webhooks.lead')),
    section('first', t('pages:receiver.title'), t('pages:docs.webhooks.first.text')),
    section('headers', t('pages:docs.webhooks.headers'), t('pages:docs.webhooks'), headers),
    section(
      'body',
      t('pages:docs.webhooks.body'),
      t('pages:docs.webhooks.body.text'),
      fieldTexts(readApiReference(app, t).webhook),
    ),
    { ...section('verify', verify, raw, steps), words: t('pages:docs.words.verify') },
    ...VERIFIERS.map(({ name }) => section(name.toLowerCase(), name, verify)),
    section('vector', t('pages:docs.webhooks.vector'), t('pages:docs.webhooks.vector.text')),
    section('delivery', t('pages:docs.webhooks.delivery'), t('pages:docs.webhooks.delivery.text')),
  ]
}

function api(app: App, t: Translate): SearchedPlace[] {
  const { tags, operations } = readApiReference(app, t)
  return [
    page(
      '/docs/api',
      t('pages:docs.api'),
      t('operations:info.description'),
      t('pages:docs.words.api'),
    ),
    ...tags.map(({ name, description }) =>
      page(`/docs/api/${name}`, asHeading(description), t('pages:docs.api')),
    ),
    ...operations.map((operation) => ({
      kind: 'operation' as const,
      path: `/docs/api/${operation.tag}`,
      anchor: `#${operation.id}`,
      title: operation.summary,
      text: operation.description,
      code: `${operation.method} ${operation.address}`,
      body: [
        operation.id,
        ...fieldTexts([...operation.parameters, ...operation.body, ...operation.answer]),
      ].join('\n'),
    })),
  ]
}

function fieldTexts(rows: readonly FieldRow[]): readonly string[] {
  return rows.flatMap(({ name, description = '' }) => [name, description])
}

function watches(app: App, t: Translate): SearchedPlace[] {
  const types = offeredTypes(app).flatMap((type) => [
    watchType(t, type),
    ...type.signals.map((signal) => signalPlace(t, type, signal)),
  ])
  return [page('/docs/watches', t('pages:docs.watches'), t('pages:docs.watches.lead')), ...types]
}

function watchType(t: Translate, { name, signals }: WatchTypeDefinition): SearchedPlace {
  const groups = SIGNAL_GROUPS.filter((group) => signals.some((signal) => signal.group === group))
  return {
    kind: 'watch',
    path: typePath(name),
    anchor: '',
    title: t(checkedKey(`bot:button.type.${name}`)),
    text: t(checkedKey(`signals:type.${name}.description`)),
    code: name,
    body: [
      ...groups.flatMap((group) => [
        t(checkedKey(`signals:group.${group}.label`)),
        t(checkedKey(`signals:group.${group}.help`)),
      ]),
      t('pages:docs.type.create'),
      t('pages:docs.type.create.text'),
    ].join('\n'),
  }
}

function signalPlace(
  t: Translate,
  { name }: WatchTypeDefinition,
  { id, parameters, events }: SignalDefinition,
): SearchedPlace {
  const prefix = `signals:${name}.${id}`
  return {
    kind: 'watch',
    path: `${typePath(name)}/${id}`,
    anchor: '',
    title: t(checkedKey(`${prefix}.label`)),
    text: t(checkedKey(`${prefix}.description`)),
    code: id,
    body: [
      t(checkedKey(`bot:button.type.${name}`)),
      ...Object.values(signalHelp(t, { type: name, signal: id })),
      ...parameters.flatMap(({ key }) => [
        key,
        t(checkedKey(`${prefix}.${key}.label`)),
        t(checkedKey(`${prefix}.${key}.help`)),
      ]),
      ...events.alerts,
      events.recovery ?? '',
    ].join('\n'),
  }
}

function events(app: App, t: Translate): SearchedPlace[] {
  const all = eventList(app, t).map(({ event, title, when, isRecovery, canBeCritical }) => ({
    kind: 'code' as const,
    path: '/docs/events',
    anchor: `#${event}`,
    code: event,
    title: title ?? event,
    text: when ?? '',
    body: isRecovery ? t('messages:recovered') : canBeCritical ? t('pages:docs.canBeCritical') : '',
  }))
  return [page('/docs/events', t('pages:docs.events'), t('pages:docs.events.lead')), ...all]
}

function problems(t: Translate): SearchedPlace[] {
  const { title, groups } = problemIndex(t)
  const statuses = groups.map(({ status, heading, codes }) => ({
    ...page('/problems', heading, codes.map(({ title }) => title).join(' · ')),
    anchor: `#status-${status}`,
  }))
  const codes = ERROR_CODES.map((code) => ({
    kind: 'code' as const,
    path: `/problems/${code}`,
    anchor: '',
    code,
    title: titleOfCode(t, code),
    text: '',
    words: String(statusOfErrorCode(code)),
  }))
  const index = page('/problems', title, t('pages:problems.lead'), t('pages:docs.words.problems'))
  return [index, ...statuses, ...codes]
}

function otherPages({ billing }: App, t: Translate): SearchedPlace[] {
  const cost = t(billing.enabled ? 'pages:home.cost.list' : 'pages:home.cost.free')
  return [
    page('/providers', t('pages:providers.title'), t('pages:home.lead')),
    { ...page('/', t('pages:home.cost'), cost, t('pages:docs.words.credits')), anchor: '#prices' },
  ]
}

function page(path: string, title: string, text: string, words = ''): SearchedPlace {
  return { kind: 'page', path, anchor: '', title, text, words }
}
