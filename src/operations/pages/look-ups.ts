/** Operations without a route: names and look-ups of data providers and accounts. */
import { z } from 'zod'
import { writeIncidents } from '#src/alerts/messages/backtest.ts'
import { AppError } from '#src/kernel/errors.ts'
import { Address } from '#src/kernel/units.ts'
import { EpochReportPath, getEpochReport } from '#src/watches/epoch-report.ts'
import * as names from '#src/watches/provider-names.ts'
import { defineChatOperation } from '../define.ts'

/** All providers with a public name, sorted by name; empty if no names are published. */
export const listNamedProviders = defineChatOperation({
  id: 'listNamedProviders',
  scope: 'read',
  output: z.object({ data: z.array(names.NamedProvider) }),
  handle: async ({ app }) => ({ data: await names.listNamedProviders(app) }),
})

/** Providers by part of their name or by identity address; at most six. */
export const searchProviders = defineChatOperation({
  id: 'searchProviders',
  scope: 'read',
  query: names.ProviderSearch,
  output: z.object({ data: z.array(names.NamedProvider) }),
  handle: async ({ app, query }) => ({ data: await names.searchProviders(app, query) }),
})

/** The provider or account of an address or name; needs no sign-in. */
export const lookUp = defineChatOperation({
  id: 'lookUp',
  scope: 'none',
  rate: 'preview',
  query: names.ProviderSearch,
  handle: ({ app, query }) => app.lookUps.find(query.text),
})

/** The provider or account at an address, for the page and the pictures of a provider; needs no sign-in. */
export const lookUpAddress = defineChatOperation({
  id: 'lookUpAddress',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({ address: Address, round: z.int32().nonnegative().optional() }),
  handle: ({ app, query }) => app.lookUps.atAddress(query.address, query.round),
})

/** What the usual watch of a provider would have sent in the last days, as far as it is known; needs no sign-in. */
export const findUsualAlerts = defineChatOperation({
  id: 'findUsualAlerts',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({ provider: Address }),
  handle: async ({ app, query }) => app.usualBacktests.find(query.provider),
})

/** The report of a provider's reward epoch; needs no sign-in. */
export const findEpochReport = defineChatOperation({
  id: 'findEpochReport',
  scope: 'none',
  rate: 'public',
  query: EpochReportPath,
  handle: ({ app, query }) => getEpochReport(app, query),
})

/** Time after which a feed or calendar that could not be made yet may be asked for again, in seconds. */
const RETRY_SECONDS = 30

function notYet(): AppError {
  return new AppError('upstream', 'dependency_unavailable', { retryAfterSeconds: RETRY_SECONDS })
}

/**
 * The incidents of a provider that its usual watch would have reported in the last days, newest first, written for a
 * reader in UTC; needs no sign-in.
 *
 * @throws AppError upstream while they are being made
 */
export const listProviderIncidents = defineChatOperation({
  id: 'listProviderIncidents',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({ provider: Address }),
  handle: async ({ app, query, locale }) => {
    const incidents = await app.usualBacktests.incidents(query.provider)
    if (incidents === undefined) throw notYet()
    return writeIncidents(incidents, { locale, timezone: 'UTC' })
  },
})

/**
 * The reward epochs, registrations, votes and ends of stakes of a provider; needs no sign-in.
 *
 * @throws AppError upstream while the chain does not answer
 */
export const readProviderCalendar = defineChatOperation({
  id: 'readProviderCalendar',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({ provider: Address }),
  handle: async ({ app, query }) => {
    const dates = await app.lookUps.calendar(query.provider)
    if (dates === undefined) throw notYet()
    return dates
  },
})

/** Every provider; needs no sign-in. */
export const listEveryProvider = defineChatOperation({
  id: 'listEveryProvider',
  scope: 'none',
  rate: 'public',
  handle: ({ app }) => app.lookUps.listAll(),
})
