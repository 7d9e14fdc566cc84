import { AcceptTerms, TermsAcceptance } from '#src/billing/account/model.ts'
import * as account from '#src/billing/account/service.ts'
import { defineOperation } from './define.ts'

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
  body: AcceptTerms,
  output: TermsAcceptance,
  handle: ({ app, caller, body }) => account.acceptTerms(app, caller, body),
})
