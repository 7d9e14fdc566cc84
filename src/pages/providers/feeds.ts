import type { FastifyInstance, FastifyRequest } from 'fastify'
import { recoveredTitle } from '#src/alerts/messages/render.ts'
import { formatDateTime, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, translator, typed } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { listProviderIncidents, readProviderCalendar } from '#src/operations/pages/look-ups.ts'
import type { CalendarDate } from '#src/watches/provider-calendar.ts'
import { chosenLocale } from '../layout.ts'
import { type CalendarEvent, type CalendarFile, writeCalendar } from './calendar-file.ts'
import { type FeedEntry, type FeedFile, writeAtom, writeJsonFeed } from './feed-file.ts'
import { PROVIDER_FEEDS } from './feed-paths.ts'
import { createFileSender } from './file-sender.ts'
import { type ProviderRoute, requireProvider } from './provider.ts'
import type { FoundProvider } from './view.ts'

type Incident = Awaited<ReturnType<(typeof listProviderIncidents)['handle']>>[number]

/** Addresses and names of a provider, and the reader's language. */
interface About {
  readonly app: App
  readonly t: Translate
  readonly title: string
  /** Page of the provider, without a query. */
  readonly url: string
  /** The language as a query, with its `?`; empty for English. */
  readonly query: string
}

/**
 * `/providers/<address>/incidents.atom`, `incidents.json`, `calendar.ics`: what the usual watch of the provider would have
 * reported, and the dates of its duties. `?lang=de`: in German. Watches and alerts of customers have no part in them.
 */
export function providerFeeds(server: FastifyInstance, app: App): void {
  const send = createFileSender(app.clock)
  const { atom, json, calendar } = PROVIDER_FEEDS
  for (const { file, type } of [atom, json]) {
    server.get<ProviderRoute>(`/providers/:address/${file}`, async (request, reply) => {
      const { about, limitKey, provider } = await aboutOf(app, request)
      const { output } = await invoke(app, listProviderIncidents, undefined, {
        ...{ query: { provider }, locale: about.t.locale, limitKey },
      })
      const feed = feedOf(about, output, file)
      const text = file === atom.file ? writeAtom(feed) : writeJsonFeed(feed)
      return send(request, reply, { key: feed.self, type, text })
    })
  }
  const { file, type } = calendar
  server.get<ProviderRoute>(`/providers/:address/${file}`, async (request, reply) => {
    const { about, limitKey, provider } = await aboutOf(app, request)
    const { output } = await invoke(app, readProviderCalendar, undefined, {
      query: { provider },
      limitKey,
    })
    const found = calendarOf(about, output)
    return send(request, reply, { key: found.source, type, text: writeCalendar(found) })
  })
}

/** @throws AppError as those of `requireProvider` */
async function aboutOf(app: App, request: FastifyRequest<ProviderRoute>) {
  const { view, name }: FoundProvider = await requireProvider(app, request)
  const locale = chosenLocale(request)
  const about: About = {
    app,
    t: translator(locale),
    title: name ?? shortAddress(view.provider),
    url: `${app.publicUrl}/providers/${view.provider}`,
    query: locale === 'en' ? '' : `?lang=${locale}`,
  }
  return { about, provider: view.provider, limitKey: request.clientNetwork }
}

function feedOf(about: About, incidents: readonly Incident[], file: string): FeedFile {
  const { app, t, title, url, query } = about
  const { host } = new URL(app.publicUrl)
  // RFC 4151: an authority and a date on which it had the name; host names with a port are none.
  const feedId = `tag:${host.split(':')[0]},2026:${new URL(url).pathname}/incidents`
  const used = new Map<string, number>()
  return {
    id: feedId,
    title: t('pages:feed.title', { provider: typed(title) }),
    about: t('pages:feed.about'),
    page: url + query,
    self: `${url}/${file}${query}`,
    icon: `${app.publicUrl}/assets/mark.svg`,
    language: t.locale,
    since: new Date('2026-01-01T00:00:00Z'),
    entries: incidents.map((incident) => {
      const name = `${incident.startedAt.getTime() / 1000}-${incident.parts[0]?.event ?? ''}`
      const before = used.get(name) ?? 0
      used.set(name, before + 1)
      const suffix = before === 0 ? '' : `-${before + 1}`
      return entryOf(t, incident, `${feedId}/${name}${suffix}`)
    }),
  }
}

function entryOf(t: Translate, incident: Incident, entryId: string): FeedEntry {
  const { title, severity, startedAt, endedAt, parts, count } = incident
  const more = count - parts.length
  const seconds = endedAt === null ? 0 : (endedAt.getTime() - startedAt.getTime()) / 1000
  const changes = [startedAt, ...parts.map(({ at }) => at), ...(endedAt === null ? [] : [endedAt])]
  // A heading of several alerts may be no more than their number.
  const [first, ...others] = parts.filter(({ isRecovery }) => !isRecovery)
  const heading = first === undefined || others.length === 0 ? title : `${title} · ${first.title}`
  return {
    id: entryId,
    title: endedAt === null ? heading : recoveredTitle(t, heading, seconds),
    lines: [
      ...parts.map((part) => `${formatDateTime(part.at, t.locale, 'UTC')}: ${part.title}`),
      ...(more > 0 ? [t('pages:feed.more', { count: more })] : []),
    ],
    category: severity,
    publishedAt: startedAt,
    updatedAt: new Date(Math.max(...changes.map(Number))),
  }
}

function calendarOf(about: About, dates: readonly CalendarDate[]): CalendarFile {
  const { t, title, url, query } = about
  return {
    name: t('pages:calendar.title', { provider: typed(title) }),
    description: t('pages:calendar.about'),
    url: url + query,
    source: `${url}/${PROVIDER_FEEDS.calendar.file}${query}`,
    language: t.locale,
    events: dates.map((date) => eventOf(about, date)),
  }
}

function eventOf({ app, t, url }: About, date: CalendarDate): CalendarEvent {
  const { kind, of, from, to, isFixed, revision, knownSince } = date
  const { host } = new URL(app.publicUrl)
  const address = url.split('/').at(-1)
  // A new stake of a node is another event: the old one has ended.
  const name = kind === 'stakeEnd' ? `${of}-${from.getTime() / 1000}` : of
  return {
    uid: `${kind}-${name}-${address}@${host}`.toLowerCase(),
    summary: t(
      `pages:calendar.${kind}`,
      kind === 'stakeEnd' ? { node: id(of) } : { epoch: id(of) },
    ),
    description: [
      t(`pages:calendar.${kind}.text`),
      ...(isFixed ? [] : [t('pages:calendar.expected')]),
    ].join('\n'),
    ...{ from, to, isConfirmed: isFixed, sequence: revision, revisedAt: knownSince },
  }
}
