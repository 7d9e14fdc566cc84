import { describe, expect, test } from 'vitest'
import { judgeSmtp } from './smtp-errors.ts'

describe('judgeSmtp', () => {
  test.each([
    [{ responseCode: 550, command: 'RCPT TO', response: '550 No such mailbox here' }],
    [{ responseCode: 550, command: 'RCPT TO', response: '550 5.1.1 User unknown' }],
    [{ responseCode: 550, command: 'RCPT TO', response: '550-5.2.1 The account is disabled' }],
    [{ responseCode: 550, command: 'RCPT TO', response: '550 5.4.1 Recipient rejected' }],
    [{ responseCode: 551, command: 'RCPT TO', response: '551 User not local' }],
    [{ responseCode: 553, command: 'RCPT TO', response: '553 Mailbox name not allowed' }],
    [{ responseCode: 554, command: 'DATA', response: '554 5.1.1 No such user' }],
  ])('gives up a mailbox that does not exist: %o', (failure) => {
    expect(judgeSmtp(Object.assign(new Error('refused'), failure))).toMatchObject({
      reason: 'mailbox_unknown',
      permanent: true,
      isOurFault: false,
    })
  })

  test.each([
    [{ responseCode: 450, command: 'RCPT TO' }, 'mail_postponed', false],
    [{ responseCode: 421, command: 'MAIL FROM' }, 'mail_postponed', false],
    [{ responseCode: 552, command: 'RCPT TO', response: '552 5.2.2 Full' }, 'mail_refused', false],
    [
      { responseCode: 550, command: 'RCPT TO', response: '550 5.7.1 Policy' },
      'mail_refused',
      false,
    ],
    [{ responseCode: 550, command: 'MAIL FROM', response: '550 Sender' }, 'mail_refused', false],
    [
      { responseCode: 554, command: 'DATA', response: '554 Looks like spam' },
      'mail_refused',
      false,
    ],
    [{ code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' }, 'mail_login', true],
    [{ code: 'ETIMEDOUT', command: 'CONN' }, 'timeout', true],
    [{ code: 'EABORT' }, 'timeout', true],
    [{ code: 'ECONNECTION', command: 'CONN' }, 'unreachable', true],
    [{ code: 'EDNS', command: 'CONN' }, 'unknown_host', true],
    [{ code: 'ETLS' }, 'certificate', true],
    [{}, 'unreachable', true],
  ])('tries again later: %o', (failure, reason, ours) => {
    expect(judgeSmtp(Object.assign(new Error('failed'), failure))).toMatchObject({
      reason,
      permanent: false,
      isOurFault: ours,
    })
  })
})
