import { describe, expect, test } from 'vitest'
import { judgeSmtp } from './smtp-errors.ts'

/** Answers of real mail servers, with the addresses and hosts replaced. */

type Answer = readonly [server: string, response: string, command?: string | undefined]

/** The answer as the client reports it: all lines of one status. */
function judged(response = '', command = 'RCPT TO') {
  const responseCode = Number(response.slice(0, 3))
  return judgeSmtp(Object.assign(new Error('refused'), { responseCode, response, command }))
}

/** The mailbox does not exist or is off. */
const UNKNOWN: readonly Answer[] = [
  [
    'Postfix',
    '550 5.1.1 <bob@example.org>: Recipient address rejected: User unknown in virtual mailbox table',
  ],
  [
    'Postfix',
    '550 5.1.1 <bob@example.org>: Recipient address rejected: User unknown in relay recipient table',
  ],
  [
    'Postfix',
    '550 5.1.1 <spam@policy.example.org>: Recipient address rejected: User unknown in local recipient table',
  ],
  ['Postfix', '550 5.1.2 <bob@example.org>: Recipient address rejected: Domain not found'],
  [
    'Postfix',
    '556 5.1.10 <bob@example.org>: Recipient address rejected: Domain example.org does not accept mail (nullMX)',
  ],
  [
    'Gmail',
    "550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking the recipient's email address for typos or\n550-5.1.1 unnecessary spaces. For more information, go to\n550 5.1.1 https://support.google.com/mail/?p=NoSuchUser a1si2345.67 - gsmtp",
  ],
  [
    'Gmail',
    '550 5.2.1 The email account that you tried to reach is disabled. For more information, go to https://support.google.com/mail/?p=DisabledUser - gsmtp',
  ],
  [
    'Gmail',
    '553-5.1.3 The recipient address <bob> is not a valid\n553 5.1.3 RFC-5321 address. - gsmtp',
  ],
  ['Exchange', '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'],
  [
    'Exchange Online',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
  ],
  [
    'Exchange Online',
    '550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [AM1EUR01FT003.eop-EUR01.prod.protection.outlook.com]',
  ],
  ['Exchange Online', '550 5.4.1 [bob@example.org]: Recipient address rejected: Access denied'],
  [
    'Yahoo',
    "554 delivery error: dd This user doesn't have a yahoo.com account (bob@yahoo.com) [0] - mta1234.mail.bf1.yahoo.com",
    'DATA',
  ],
  [
    'Yahoo',
    '554 30 Sorry, your message to bob@yahoo.com cannot be delivered. This mailbox is disabled (554.30).',
    'DATA',
  ],
  ['Yahoo', '552 1 Requested mail action aborted, mailbox not found', 'DATA'],
  ['iCloud', '550 5.1.1 unknown or illegal alias: bob@icloud.com'],
  ['iCloud', '550 5.1.1 <bob@icloud.com>: user does not exist'],
  ['Comcast', '550 5.1.1 Not our Customer'],
  ['sendmail', '550 5.1.1 <bob@example.org>... User unknown'],
  [
    'sendmail',
    '550 5.1.2 <bob@example.org>... Host unknown (Name server: example.org: host not found)',
  ],
  ['qmail', '550 sorry, no mailbox here by that name (#5.1.1)'],
  ['qmail with chkuser', '511 sorry, no mailbox here by that name (#5.1.1 - chkuser)'],
  ['qmail', "550-I'm sorry.\n550 This address no longer accepts mail. (#5.1.1)"],
  ['Exim with cPanel', '550 No Such User Here"'],
  ['Exim', '550 Unrouteable address'],
  ['Exim', '550 Unknown user'],
  [
    'Mimecast',
    '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abcDEF123.uk50]',
  ],
  ['Proofpoint', '550 5.1.1 User Unknown'],
  [
    'Barracuda',
    '550 permanent failure for one or more recipients (bob@example.org:550 5.1.1 User unknown)',
    'DATA',
  ],
  ['Zoho', '550 5.1.1 User does not exist - <bob@example.org>'],
  ['QQ', '550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1&no=1000728'],
  ['163', '550 User not found: bob@163.com'],
  [
    'Mail.ru',
    '550 Message was not accepted -- invalid mailbox.  Local mailbox bob@mail.ru is unavailable: user not found',
  ],
  ['MDaemon', '550 5.1.1 Recipient unknown <bob@example.org>'],
  ['Lotus Domino', '550 5.1.1 bob@example.org... No such user'],
  ['CommuniGate', '550 bob@example.org unknown user account'],
  ['unknown', '554 5.1.1 No such user', 'DATA'],
  ['unknown', '550 5.1.6 Recipient no longer on server: bob@example.org'],
]

/** The server refuses this service: its relay, sender, address, reputation, policy, log-in or content. */
const REFUSES_US: readonly Answer[] = [
  ['qmail', '553 sorry, that domain is not in my list of allowed rcpthosts (#5.7.1)'],
  ['qmail', "553 sorry, that domain isn't in my list of allowed rcpthosts"],
  ['qmail', '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)'],
  ['Postfix', '554 5.7.1 <bob@example.org>: Relay access denied'],
  [
    'Postfix',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
  ],
  [
    'Postfix',
    '550 5.1.0 <alerts@watchdog.example>: Sender address rejected: User unknown in virtual mailbox table',
  ],
  ['Postfix', '550 5.1.8 <alerts@watchdog.example>: Sender address rejected: Domain not found'],
  [
    'Postfix',
    '553 5.7.1 <alerts@watchdog.example>: Sender address rejected: not owned by user alerts',
  ],
  ['Postfix', '550 5.1.7 <alerts>: Sender address rejected: need fully-qualified address'],
  ['Postfix', '504 5.5.2 <watchdog>: Helo command rejected: need fully-qualified hostname'],
  ['Postfix', '550 5.7.25 Client host rejected: cannot find your reverse hostname, [192.0.2.1]'],
  ['sendmail', '550 5.7.1 <bob@example.org>... Relaying denied. Proper authentication required.'],
  [
    'sendmail',
    '553 5.1.8 <alerts@watchdog.example>... Domain of sender address alerts@watchdog.example does not exist',
  ],
  ['sendmail', '550 5.7.1 Mail from 192.0.2.1 refused by blackhole site bl.spamcop.net'],
  [
    'Exim',
    '550-Verification failed for <alerts@watchdog.example>\n550-No such person at this address\n550 Sender verify failed',
  ],
  [
    'Exim',
    '550-Callback setup failed while verifying <alerts@watchdog.example>\n550-The initial connection, or a HELO or MAIL FROM:<> command was\n550 rejected. User unknown.',
  ],
  ['Exim', '550 relay not permitted'],
  ['Exim', '550 Administrative prohibition'],
  ['Exim', '550 This message was classified as SPAM and may not be delivered', 'DATA'],
  [
    'Exim',
    '550-JunkMail rejected - mail.watchdog.example [192.0.2.1]:41234 is in an RBL,\n550 see http://www.spamhaus.org/query/bl?ip=192.0.2.1',
  ],
  [
    'Exchange Online',
    '550 5.7.64 TenantAttribution; Relay Access Denied [AM1EUR01FT003.eop-EUR01.prod.protection.outlook.com]',
  ],
  [
    'Exchange Online',
    '550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/',
  ],
  ['Exchange Online', '550 5.1.8 Access denied, bad outbound sender.'],
  [
    'Exchange Online',
    '550 5.1.90 Your message cannot be sent because you have reached your daily limit for message recipients',
  ],
  ['Exchange Online', '550 5.1.20 Multiple From addresses are not allowed without Sender', 'DATA'],
  ['Exchange Online', '550 5.1.0 Sender denied'],
  [
    'Outlook.com',
    "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
  ],
  ['Outlook.com', '550 SC-001 Mail rejected by Outlook.com for policy reasons.'],
  [
    'Gmail',
    '550-5.7.26 This mail has been blocked because the sender is unauthenticated.\n550-5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM.\n550 5.7.26 - gsmtp',
    'DATA',
  ],
  [
    'Gmail',
    '550-5.7.1 [192.0.2.1] Our system has detected that this message is\n550-5.7.1 likely unsolicited mail. To reduce the amount of spam sent to Gmail,\n550 5.7.1 this message has been blocked. - gsmtp',
    'DATA',
  ],
  ['Gmail', '550 5.4.5 Daily user sending limit exceeded. - gsmtp'],
  [
    'Gmail',
    '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
  ],
  [
    'Yahoo',
    "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list",
  ],
  [
    'Yahoo',
    '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
    'DATA',
  ],
  ['Proofpoint', '550 5.7.0 Local Policy Violation', 'DATA'],
  ['Proofpoint', '554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1'],
  [
    'Mimecast',
    '550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550',
  ],
  [
    'Mimecast',
    '554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554',
    'DATA',
  ],
  [
    'Barracuda',
    '554 Service unavailable; Client host [mail.watchdog.example] blocked using Barracuda Reputation; http://www.barracudanetworks.com/reputation/?r=1&ip=192.0.2.1',
  ],
  [
    'Cisco',
    "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation.",
  ],
  ['T-Online', '550 5.7.0 Message considered as spam or virus, rejected', 'DATA'],
  ['GMX', '550 invalid DNS MX or A/AAAA resource record of the sender domain'],
  [
    'Mail.ru',
    '550 spam message rejected. Please visit http://help.mail.ru/notspam-support',
    'DATA',
  ],
  ['Zoho', '541 5.4.1 Mail rejected by destination domain'],
  ['QQ', '550 Connection frequency limited'],
  ['163', '553 Mail from must equal authorized user'],
  [
    'Amazon SES',
    '554 Message rejected: Email address is not verified. The following identities failed the check',
    'DATA',
  ],
  ['Amazon SES', '554 Message rejected: Sending suspended for this account.', 'DATA'],
  ['SendGrid', '550 The from address does not match a verified Sender Identity', 'DATA'],
  [
    'Mailgun',
    '554 Free accounts are for test purposes only. Please upgrade or add the address to authorized recipients',
    'DATA',
  ],
  ['Office 365', '550 5.7.1 Client was not authenticated'],
  ['unknown', '530 5.7.0 Must issue a STARTTLS command first'],
  ['unknown', '550 http://www.spamhaus.org/query/bl?ip=192.0.2.1'],
  ['unknown', '550 rejected because 192.0.2.1 is listed'],
  ['unknown', '550 5.1.1 User unknown: your IP address is on our block list'],
  ['unknown', '571 Delivery not authorized, message refused'],
  ['unknown', '554 5.6.0 Corrupt message content', 'DATA'],
  ['unknown', '552 5.3.4 Message size exceeds fixed limit', 'DATA'],
]

/** The mailbox is full or busy, or nothing says why. */
const UNCLEAR: readonly Answer[] = [
  ['Gmail', '552 5.2.2 The email account that you tried to reach is over quota. - gsmtp'],
  ['Postfix', '552 5.2.2 <bob@example.org>: Recipient address rejected: Mailbox is full'],
  ['Yandex', '550 5.7.1 No such user!'],
  ['GMX', '550 Requested action not taken: mailbox unavailable'],
  ['Outlook.com', '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)'],
  ['Cisco', '550 #5.1.0 Address rejected.'],
  ['RFC 5321', '551 User not local; please try <bob@example.net>'],
  ['RFC 5321', '553 Requested action not taken: mailbox name not valid'],
  ['unknown', '550 Rejected'],
  ['unknown', '550 5.2.1 This account has been suspended, contact support'],
  ['unknown', '550 5.1.1 Access denied'],
  ['unknown', '550 5.1.1 Rejected: bad score'],
  ['unknown', '550 5.1.1 Denied by DNS check'],
  ['unknown', '550 5.1.1 originator unknown'],
  ['unknown', '550 5.1.1 Connection refused from dynamic host'],
  ['unknown', '550 5.1.1 User lookup failed: backend error'],
  ['unknown', '550 5.1.1 user database unavailable'],
  [
    'Postfix',
    '550 5.1.1 <bob@example.org>: Recipient address rejected: undeliverable address: connect to mx: Connection timed out',
  ],
  ['unknown', '550'],
  ['unknown', '550 5.1.1 User unknown, temporary failure of the directory. Try again later.'],
  ['unknown', '554 5.0.0 Service refused', 'DATA'],
]

describe('judgeSmtp', () => {
  test.each(
    UNKNOWN,
  )('takes the mailbox for unknown only if the answer is repeated: %s, %s', (_server, response, command) => {
    const expected = { permanent: true, needsRepetition: true, isOurFault: false }
    expect(judged(response, command)).toMatchObject({
      reason: 'mailbox_unknown',
      ...expected,
    })
  })

  test.each(
    REFUSES_US,
  )('never blames the mailbox for a refusal of this service: %s, %s', (_server, response, command) => {
    const expected = { permanent: false, isOurFault: true }
    expect(judged(response, command)).toMatchObject({
      reason: 'mail_refused',
      ...expected,
    })
  })

  test.each(
    UNCLEAR,
  )('tries again what does not name the mailbox as unknown: %s, %s', (_server, response, command) => {
    const expected = { permanent: false, isOurFault: false }
    expect(judged(response, command)).toMatchObject({
      reason: 'mail_refused',
      ...expected,
    })
  })

  test('takes every answer before the recipient for an outage', () => {
    for (const command of ['CONN', 'EHLO', 'STARTTLS', 'MAIL FROM', '']) {
      for (const [, response] of [...UNKNOWN, ...REFUSES_US, ...UNCLEAR]) {
        const expected = { reason: 'mail_outage', permanent: false, isOurFault: true }
        expect(judged(response, command)).toMatchObject(expected)
      }
    }
  })

  test('takes no answer 4xx for permanent', () => {
    for (const [, response, command] of [...UNKNOWN, ...REFUSES_US, ...UNCLEAR]) {
      const forNow = response.replace(/^\d/gm, '4')
      const expected = { reason: 'mail_postponed', permanent: false }
      expect(judged(forNow, command)).toMatchObject(expected)
    }
  })

  test.each([
    ['450 4.2.2 Mailbox full', false],
    ['450 Mailbox busy, try again later', false],
    [
      '450 4.7.1 <bob@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/',
      true,
    ],
    ['451 Greylisting in action, please come back later', true],
    [
      '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume',
      true,
    ],
    ['451 4.3.0 Temporary lookup failure', true],
    ['452 4.5.3 Too many recipients', true],
  ])('blames the mailbox for a postponed mail only if it is about the mailbox: %s', (response, ours) => {
    const expected = { reason: 'mail_postponed', permanent: false, isOurFault: ours }
    expect(judged(response)).toMatchObject(expected)
  })

  test.each([
    [{ code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' }, 'mail_login', true],
    [{ code: 'EAUTH', responseCode: 454, command: 'AUTH PLAIN' }, 'mail_login', true],
    [{ code: 'EAUTH', command: 'API' }, 'mail_login', true],
    [{ code: 'EENVELOPE', command: 'API', message: 'Invalid sender "x"' }, 'mail_outage', true],
    [
      { code: 'EENVELOPE', command: 'API', message: 'Invalid recipient "x"' },
      'mail_refused',
      false,
    ],
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
