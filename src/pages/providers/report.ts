import type { FastifyInstance } from 'fastify'
import { shortAddress } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { findEpochReport } from '#src/operations/pages/look-ups.ts'
import { reportWords } from '#src/pictures/report-text.ts'
import { type EpochReport, EpochReportPath } from '#src/watches/epoch-report.ts'
import { choicesOf, sendPage } from '../layout.ts'

interface ReportRoute {
  readonly Params: { readonly address: string; readonly epoch: string }
}

/** Lifetime of a page in public caches: less than a voting round of 90 seconds. */
const FRESH_SECONDS = 60

/** `/providers/<address>/epochs/<epoch>`: the report of a provider's reward epoch, for everybody. */
export function reportPage(server: FastifyInstance, app: App): void {
  server.get<ReportRoute>('/providers/:address/epochs/:epoch', async (request, reply) => {
    const { address: provider, epoch } = request.params
    const asked = EpochReportPath.safeParse({ provider, epoch: /^\d{1,9}$/.test(epoch) && epoch })
    const report = asked.success
      ? await findReport(app, asked.data, request.clientNetwork)
      : undefined
    if (report === undefined) {
      return sendPage(app, request, reply, {
        view: 'notice',
        status: 404,
        isUncached: true,
        data: (t) => ({ title: t('pages:report.gone.title'), text: t('pages:report.gone.text') }),
      })
    }
    if (provider !== report.provider) {
      const path = `/providers/${report.provider}/epochs/${report.rewardEpoch}`
      return reply.redirect(`${path}${choicesOf(request)}`, 302)
    }
    return sendPage(app, request, reply, {
      view: 'report',
      freshSeconds: FRESH_SECONDS,
      data: (t) => reportView(t, report),
    })
  })
}

/** @throws AppError rate_limited */
async function findReport(
  app: App,
  query: EpochReportPath,
  limitKey: string,
): Promise<EpochReport | undefined> {
  try {
    return (await invoke(app, findEpochReport, undefined, { query, limitKey })).output
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

function reportView(t: Translate, report: EpochReport) {
  const words = reportWords(t, report)
  const { provider, name } = report
  const signalHref = '/docs/watches/provider-fsp'
  return {
    title: `${name ?? shortAddress(provider)} · ${words.epoch}`,
    name: name ?? shortAddress(provider),
    address: provider,
    epoch: words.epoch,
    headline: words.headline,
    notes: words.notes,
    sections: [
      { title: t('pages:report.result'), fields: words.result },
      { title: t('messages:picture.duties'), fields: words.duties },
      { title: t('pages:report.punctuality'), fields: words.punctuality },
      { title: t('pages:provider.conditions'), fields: words.conditions },
      { title: t('pages:provider.rewards'), fields: words.rewards },
    ].filter(({ fields }) => fields.length > 0),
    mend: words.mend,
    helpHref: signalHref,
    providerHref: `/providers/${provider}`,
  }
}
