import { beforeEach, expect, test } from 'vitest'
import type { Logger } from '#src/kernel/logger.ts'
import { createMailServerState, type MailServerState } from './server-state.ts'

const lines: string[] = []
const log: Logger = {
  error: (fields, message) => lines.push(`error ${message} ${JSON.stringify(fields)}`),
  warn: () => undefined,
  info: (_fields, message) => lines.push(`info ${message}`),
  debug: () => undefined,
}

let nowMs: number
let state: MailServerState
beforeEach(() => {
  lines.length = 0
  nowMs = Date.UTC(2026, 10, 28)
  const clock = { now: () => new Date(nowMs) }
  state = createMailServerState('smtps://me:p%40ss-word@mail.example.org:465', { clock, log })
})

const answer = (response: string, command: string, code = 'EENVELOPE') =>
  Object.assign(new Error('refused'), {
    ...{ code, command, response, responseCode: Number(response.slice(0, 3)) },
  })
const OF_US = answer('554 5.7.1 Client host blocked', 'RCPT TO')
const UNKNOWN = answer('550 5.1.1 User unknown', 'RCPT TO')
/** A mailbox that has agreed to e-mails for a wallet. */
const mailbox = (name: string, owner: string | undefined = 'alice') => ({
  address: `${name}@example.org`,
  owner,
})

test('a mail server that was never used has no problem, and its log-in is due', () => {
  expect([state.problem(), state.failingMs(), state.isCheckDue()]).toEqual([undefined, 0, true])
})

test('a refused log-in is a problem until a log-in or an e-mail succeeds', () => {
  for (const succeed of ['loggedIn', 'accepted'] as const) {
    state.refused(answer('535 5.7.8 Bad credentials', 'AUTH PLAIN', 'EAUTH'))
    nowMs += 7000
    state.refused(answer('535 5.7.8 Bad credentials', 'AUTH PLAIN', 'EAUTH'))
    expect(state.problem()).toBe(
      'mail server mail.example.org:465 refuses the log-in: 535 5.7.8 Bad credentials',
    )
    expect(state.failingMs()).toBe(7000)
    expect(state.isCheckDue()).toBe(true)
    state[succeed]()
    expect([state.problem(), state.failingMs(), state.isCheckDue()]).toEqual([undefined, 0, false])
  }
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(2)
  expect(lines).toContain('info mail server takes e-mails again')
})

test('no words of the server show the password or an encoded log-in', () => {
  const encoded = Buffer.from('\0me\0p@ss-word').toString('base64')
  state.refused(answer(`535 p@ss-word p%40ss-word AUTH PLAIN ${encoded}`, 'AUTH PLAIN', 'EAUTH'))
  expect(`${state.problem()} ${lines.join()}`).not.toMatch(/ss-word/)
  expect(`${state.problem()} ${lines.join()}`).not.toContain(encoded.slice(0, 8))
})

test('no words of the server name a mailbox, only its host', () => {
  for (const owner of ['alice', 'bob', 'carol']) {
    const words = `550 5.1.1 <${owner}.o'neil+x@example.org>: ${owner}@example.org unknown`
    state.refused(answer(words, 'RCPT TO'), mailbox(owner, owner))
  }
  expect(state.problem()).toContain('550 5.1.1 <…')
  expect(state.problem()).toContain('…@example.org unknown')
  expect(`${state.problem()} ${lines.join()}`).not.toMatch(/carol|neil/)
})

test('refusals of this service for three mailboxes in a row are a problem, until an e-mail is accepted', () => {
  for (const name of ['a', 'b', 'B']) {
    state.refused(OF_US, mailbox(name))
    expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
  }
  state.refused(OF_US, mailbox('c'))
  expect(state.refusesMany()).toBe(true)
  expect(state.problem()).toContain('554 5.7.1 Client host blocked')
  state.loggedIn()
  expect(state.refusesMany()).toBe(true)
  state.accepted()
  expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
})

test('refusals of single mailboxes between accepted e-mails, and unknown mailboxes, are no problem', () => {
  for (let nth = 0; nth < 10; nth += 1) {
    state.refused(OF_US, mailbox(`blocked${nth}`, 'bob'))
    state.refused(UNKNOWN, mailbox(`unknown${nth}`))
    state.accepted()
  }
  expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
})

test('three mailboxes of two owners that are called unknown within an hour are a problem, until an e-mail is accepted', () => {
  state.refused(UNKNOWN, mailbox('a'))
  nowMs += 29 * 60_000
  state.refused(UNKNOWN, mailbox('b'))
  nowMs += 29 * 60_000
  expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
  state.refused(UNKNOWN, mailbox('c', 'bob'))
  expect(state.refusesMany()).toBe(true)
  expect(state.problem()).toBe(
    'mail server mail.example.org:465 refuses the e-mails of this service: 550 5.1.1 User unknown',
  )
  state.loggedIn()
  expect(state.refusesMany()).toBe(true)
  state.accepted()
  expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
})

test('mailboxes of one owner, two mailboxes, and mailboxes that never agreed may all be unknown', () => {
  for (const name of ['a', 'b', 'c', 'd']) state.refused(UNKNOWN, mailbox(name))
  state.accepted()
  state.refused(UNKNOWN, mailbox('a'))
  state.refused(UNKNOWN, mailbox('b', 'bob'))
  state.refused(UNKNOWN, mailbox('B', 'bob'))
  for (const name of ['x', 'y', 'z']) state.refused(UNKNOWN, { ...mailbox(name), owner: undefined })
  expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
})

test('mailboxes that are called unknown far apart are no outage', () => {
  for (const [name, owner] of [
    ['a', 'alice'],
    ['b', 'bob'],
    ['c', 'carol'],
    ['d', 'dan'],
  ]) {
    state.refused(UNKNOWN, mailbox(name ?? '', owner))
    nowMs += 31 * 60_000
    expect(state.refusesMany()).toBe(false)
  }
})

test('an outage is shown until an hour after the last refusal, and lasts until an e-mail is accepted', () => {
  for (const owner of ['alice', 'bob', 'carol']) state.refused(UNKNOWN, mailbox(owner, owner))
  nowMs += 60 * 60_000
  state.loggedIn()
  expect([state.refusesMany(), state.problem() === undefined]).toEqual([true, false])
  nowMs += 1
  state.loggedIn()
  expect([state.refusesMany(), state.problem() === undefined]).toEqual([true, true])
  nowMs += 10 * 60 * 60_000
  state.refused(UNKNOWN, mailbox('alice', 'alice'))
  expect([state.refusesMany(), state.problem() === undefined]).toEqual([true, false])
  state.accepted()
  state.refused(UNKNOWN, mailbox('alice', 'alice'))
  expect([state.refusesMany(), state.problem()]).toEqual([false, undefined])
})

test('an answer about a mailbox shows that the log-in works', () => {
  state.refused(answer('454 4.7.0 Temporary authentication failure', 'AUTH PLAIN', 'EAUTH'))
  state.refused(UNKNOWN, mailbox('unknown'))
  expect(state.problem()).toBeUndefined()
})

test('a log-in is due again after a quarter of an hour without an answer', () => {
  state.accepted()
  nowMs += 15 * 60_000
  expect(state.isCheckDue()).toBe(false)
  nowMs += 1
  expect(state.isCheckDue()).toBe(true)
})
