/** Describes in words what a deletion of several alerts would do: how many alerts, and which. */
import { countAlerts } from '#src/alerts/history/history.ts'
import type { AlertSelection } from '#src/alerts/model.ts'
import { formatDateTime } from '#src/i18n/format.ts'
import { id as bare, checkedKey, type TextValue, translator, typed } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { ID_MAX } from '#src/kernel/units.ts'
import { getWatch } from '#src/watches/manage/service.ts'
import type { App, RowBound } from '../define.ts'
import { type Summarized, ZONE } from './summarized.ts'

/** Maximum number of alerts that are counted. A summary of more alerts says *at least*. */
const COUNTED_MAX = 10_000

interface Asked extends Omit<Summarized, 'locale'> {
  readonly query: Omit<AlertSelection, 'all'> & { readonly all?: unknown }
  readonly body: AlertSelection | undefined
}

/** The alerts that a deletion would affect now. More than are counted have no bound but the newest. */
export async function readDeletionBound({ app, caller, query, body }: Asked): Promise<RowBound> {
  const { all: _, ...chosen } = { ...query, ...body }
  const { count, isAll, newestId } = await countAlerts(app, caller, chosen, COUNTED_MAX)
  return { newestId, count: isAll ? count : ID_MAX }
}

export async function summarizeAlertsDeletion({
  app,
  caller,
  locale,
  query,
  body,
}: Asked & Summarized): Promise<string> {
  const t = translator(locale)
  const { all: _, ...chosen } = { ...query, ...body }
  const { count, isAll: isExact } = await countAlerts(app, caller, chosen, COUNTED_MAX)
  const counted = t('units:alerts', { count })
  const alerts = isExact ? counted : t('operations:does.deleteAlerts.atLeast', { alerts: counted })
  const { watchId, type, group, signal, event, severity, state, from, to, before, ids } = chosen
  const time = (at: Date | undefined) => at && formatDateTime(at, locale, ZONE)
  const ends = [to, before].flatMap((end) => end?.getTime() ?? [])
  const filters: readonly (readonly [Filter, TextValue | undefined])[] = [
    ['watch', watchId === undefined ? undefined : await watchName(app, caller, watchId)],
    ['type', type && t(checkedKey(`bot:button.type.${type}`))],
    ['group', group && bare(group)],
    ['signal', signal && bare(signal)],
    ['event', event && bare(event)],
    ['severity', severity && t(`bot:severity.${severity}`)],
    ['state', state && t(`bot:alerts.state.${state}`)],
    ['from', time(from)],
    ['before', ends.length === 0 ? undefined : time(new Date(Math.min(...ends)))],
  ]
  const parts = filters.flatMap(([filter, value]) =>
    value === undefined ? [] : [t(`operations:does.deleteAlerts.${filter}`, { value })],
  )
  const isUnfiltered = parts.length === 0 && ids === undefined
  return [
    t(`operations:does.deleteAlerts.${isUnfiltered ? 'all' : 'some'}`, { alerts }),
    ...(parts.length === 0 ? [] : [parts.join(' · ')]),
  ].join('\n')
}

type Filter =
  | 'watch'
  | 'type'
  | 'group'
  | 'signal'
  | 'event'
  | 'severity'
  | 'state'
  | 'from'
  | 'before'

/** The label of a watch; `#7` if the watch was deleted. */
async function watchName(app: App, caller: Caller, watchId: number): Promise<TextValue> {
  try {
    const { label } = await getWatch(app, caller, watchId)
    return typed(label)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return bare(`#${watchId}`)
    throw error
  }
}
