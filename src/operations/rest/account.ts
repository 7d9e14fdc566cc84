import {
  AcceptTerms,
  AccountQuery,
  CreditAccount,
  TermsAcceptance,
} from '#src/billing/account/model.ts'
import * as account from '#src/billing/account/service.ts'
import * as overview from '#src/billing/overview.ts'
import { pageRows } from '#src/kernel/pagination.ts'
import * as deletion from '../account-deletion.ts'
import { AccountDeletion } from '../account-deletion.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeTerms } from '../summaries/change-summaries.ts'
import { summarizeAccountDeletion } from '../summaries/summaries.ts'

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

export const deleteAccount = defineOperation({
  id: 'deleteAccount',
  method: 'DELETE',
  path: '/account',
  scope: 'spend',
  rate: 'write',
  isExtension: true,
  noStore: true,
  status: 204,
  errors: ['account_not_confirmed'],
  query: AccountDeletion,
  summarize: summarizeAccountDeletion,
  handle: async ({ app, caller, query }) => {
    await deletion.deleteAccount(app, caller.wallet, query)
  },
})

/** The operations of this module with a route, in the order of the specification. */
export const accountOperations: readonly AnyOperation[] = [
  getAccount,
  getTerms,
  acceptTerms,
  deleteAccount,
]
