import type { FastifyInstance } from 'fastify'
import { checkedKey, type TextValues, type Translate } from '#src/i18n/translate.ts'
import type { ErrorCode } from '#src/kernel/errors.ts'
import { ERROR_CODES, isErrorCode, statusOfErrorCode } from '#src/kernel/problems.ts'
import type { App } from '#src/operations/define.ts'
import { problemBody } from '#src/operations/problem.ts'
import { createKeptPages } from '../kept-pages.ts'
import { queryParametersOf, sendPage } from '../layout.ts'
import { linkPreview } from '../link-preview.ts'
import { readApiReference } from './api-reference.ts'

/** Example values for the placeholders of problem texts. */
const EXAMPLES: { readonly [Code in ErrorCode]?: TextValues } = {
  insufficient_scope: { scope: 'write' },
  terms_not_accepted: { version: '2026-11' },
  token_limit_reached: { count: 10 },
  no_free_slot: { count: 3 },
  slot_limit_reached: { count: 20 },
  watch_limit_reached: { count: 200 },
  insufficient_credits: { count: 1080 },
  price_changed: { count: 8500 },
  term_not_next: { number: 4 },
  payment_required: { count: 2 },
  asset_unavailable: { asset: 'FXRP' },
  asset_paused: { asset: 'FXRP' },
  cap_exceeded: { asset: 'FXRP', maximum: 1000, holdings: 5000 },
  terms_version_changed: { version: '2026-11' },
  recipient_limit_reached: { count: 20 },
  maintenance_limit_reached: { count: 20 },
  mailbox_refused: { days: 90 },
  rate_limited: { seconds: 40 },
  too_many_backtests: { count: 10 },
  dependency_unavailable: { seconds: 10 },
  payment_pending: { seconds: 5 },
  settlement_unavailable: { seconds: 30 },
}
const EXAMPLE_REFERENCE = '6f1c2a9e-3b1d-4f0a-9c55-2f8f5d1f7f10'

/** `/problems` and `/problems/<code>`: the URLs in an error's `type`. */
export function problemPages(server: FastifyInstance, app: App): void {
  const pages = createKeptPages(app)
  server.get('/problems', (request, reply) =>
    pages.send(request, reply, () => ({
      view: 'problems',
      data: (t) => ({
        ...problemIndex(t),
        share: linkPreview(app, t, { path: '/problems', description: t('pages:problems.lead') }),
      }),
    })),
  )
  server.get<{ Params: { code: string } }>('/problems/:code', (request, reply) => {
    const { code } = request.params
    const page = isErrorCode(code)
      ? ({
          view: 'problem',
          parameters: ['ref'],
          data: (t: Translate) => problem(app, t, code, queryParametersOf(request).ref),
        } as const)
      : ({
          view: 'problems',
          status: 404,
          data: (t: Translate) => ({ ...problemIndex(t), unknown: t('pages:problems.unknown') }),
        } as const)
    return sendPage(app, request, reply, page)
  })
}

/** The error codes by HTTP status, with their titles. */
export function problemIndex(t: Translate) {
  const groups = Map.groupBy(ERROR_CODES, statusOfErrorCode)
  return {
    title: t('pages:problems.title'),
    groups: [...groups].map(([status, codes]) => ({
      status,
      heading: t('pages:problems.status', { status: String(status) }),
      codes: codes.map((code) => ({ code, title: titleOfCode(t, code) })),
    })),
  }
}

function problem(app: App, t: Translate, code: ErrorCode, reference: string | undefined) {
  const errors = code === 'validation_failed' ? [{ pointer: '/name', code: 'required' }] : undefined
  const values = EXAMPLES[code]
  const example = problemBody(t, app.publicUrl, {
    code,
    values,
    errors,
    requestId: EXAMPLE_REFERENCE,
  })
  const status = String(example.status)
  const { operations } = readApiReference(app, t)
  return {
    operations: operations.filter(({ refusals }) => refusals.includes(status)),
    title: example.title,
    share: linkPreview(app, t, { path: `/problems/${code}`, description: example.detail }),
    detail: example.detail,
    code,
    status: example.status,
    example: JSON.stringify(example, undefined, 2),
    reference: reference?.match(/^[\w.-]{1,64}$/)?.[0],
  }
}

/** Title of an error code, with example values. */
export function titleOfCode(t: Translate, code: ErrorCode): string {
  return t(checkedKey(`errors:${code}.title`), EXAMPLES[code])
}
