import type { FastifyInstance } from 'fastify'
import { type AlertPage, readLinked } from '#src/alerts/service.ts'
import { glyphOf, isCode, isRecovery, severityWord, TEST_GLYPH } from '#src/channels/wording.ts'
import { formatDateTime, formatDuration } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { isLocale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { botUrl } from './home.ts'
import { queryOf, sendPage } from './layout.ts'

/** `/a/<code>`: one alert, to read, for whoever holds the link. */
export function alertPage(server: FastifyInstance, app: App): void {
  server.get<{ Params: { code: string } }>('/a/:code', async (request, reply) => {
    const { lang } = queryOf(request)
    const page = await readLinked(app, request.params.code, isLocale(lang) ? lang : undefined)
    if (page === undefined) {
      return sendPage(app, request, reply, {
        view: 'notice',
        status: 404,
        secret: true,
        data: (t) => ({ title: t('pages:alert.gone.title'), text: t('pages:alert.gone.text') }),
      })
    }
    return sendPage(app, request, reply, {
      view: 'alert',
      secret: true,
      locale: page.locale,
      data: (t) => alertData(app, t, page),
    })
  })
}

interface Chip {
  readonly tone: string
  readonly text: string
}

function alertData(app: App, t: Translate, page: AlertPage) {
  const { message, timezone } = page
  const { alertId, watchId } = message
  return {
    title: message.title,
    paragraphs: message.body.split('\n').filter((line) => line !== ''),
    chips: chips(t, page),
    label: message.watchLabel,
    firedAt: message.firedAt,
    time: formatDateTime(new Date(message.firedAt), t.locale, timezone),
    number: alertId === null ? undefined : t('pages:alert.number', { id: id(alertId) }),
    recovered: recoveredLine(t, page),
    fields: message.fields.map((field) => ({ ...field, isCode: isCode(field) })),
    botUrl: watchId === null ? undefined : botUrl(app, `w${watchId}`),
  }
}

/** How bad it is or was, as glyph and word; colour says nothing alone. */
function chips(t: Translate, { message, state }: AlertPage): readonly Chip[] {
  const isOver = state === 'recovered' || isRecovery(message.event)
  const severity = isOver
    ? { tone: 'fine', text: `🟢 ${t('messages:recovered')}` }
    : { tone: message.severity, text: `${glyphOf(message)} ${severityWord(t, message)}` }
  const seen = { tone: '', text: `✓ ${t('pages:alert.acknowledged')}` }
  const test = { tone: '', text: `${TEST_GLYPH} ${t('pages:alert.test')}` }
  return [...(message.test ? [test] : []), severity, ...(state === 'acknowledged' ? [seen] : [])]
}

function recoveredLine(t: Translate, page: AlertPage): string | undefined {
  const { recoveredAt, durationSeconds, timezone } = page
  if (recoveredAt === null || durationSeconds === null) return undefined
  return t('pages:alert.recovered', {
    time: formatDateTime(recoveredAt, t.locale, timezone),
    duration: formatDuration(durationSeconds, t.locale, 'long'),
  })
}
