import {
  AcceptTerms,
  AccountQuery,
  CreditAccount,
  TermsAcceptance,
} from '#src/billing/account/model.ts'
import * as account from '#src/billing/account/service.ts'
import * as overview from '#src/billing/overview.ts'
import { pageRows } from '#src/kernel/pagination.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeTerms } from '../summaries/change-summaries.ts'

export const getAccount = defineOperation({
  id: 'getAccount',
  method: 'GET',
  path: '/account',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: AccountQuery,
  rows: pageRows,
  output: CreditAccount,
  handle: ({ app, caller, query }) => overview.getAccount(app, caller, query),
})

export const getTerms = defineOperation({
  id: 'getTerms',
  method: 'GET',
  path: '/account/terms',
  scope: 'read',
  rate: 'read',
  status: 200,
  output: TermsAcceptance,
  handle: ({ app, caller }) => account.getTerms(app, caller),
})

export const acceptTerms = defineOperation({
  id: 'acceptTerms',
  method: 'POST',
  path: '/account/terms',
  scope: 'write',
  rate: 'write',
  status: 200,
  errors: ['terms_version_changed', 'billing_disabled'],
  body: AcceptTerms,
  output: TermsAcceptance,
  summarize: (input) => summarizeTerms(input),
  handle: ({ app, caller, body }) => account.acceptTerms(app, caller, body),
})

/** The operations of this module with a route, in the order of the specification. */
export const accountOperations: readonly AnyOperation[] = [getAccount, getTerms, acceptTerms]
