import { once } from 'node:events'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerAddress, type SMTPServerSession } from 'smtp-server'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { type Mail, readMail } from './inbox/mail.ts'
import { createReceivedItems, type ReceivedItems } from './received-items.ts'

/** Responses to mail: accepted, `450` try later, `550` no such mailbox, or not listening. */
export const INBOX_MODES = ['ok', 'temporary', 'permanent', 'down'] as const

export type InboxMode = (typeof INBOX_MODES)[number]

/** Response of one mailbox. */
export type MailboxAnswer = Exclude<InboxMode, 'down'>

/** Commands that can be refused: the log-in, the sender and the recipient. */
export type RefusedCommand = 'auth' | 'mail' | 'rcpt'

/** A refusal in the words of another mail server, such as 553 `sorry, that domain …`. */
export interface InboxRefusal {
  readonly responseCode: number
  readonly message: string
}

/** A mail server that stores every mail. */
export interface Inbox {
  /** Value for `SMTP_URL`, without encryption and password. */
  readonly url: string
  /** Received mails, oldest first. */
  readonly mails: readonly Mail[]
  readonly mode: InboxMode
  /** Sets the response from now on; `down` also drops open connections. */
  setMode(mode: InboxMode): Promise<void>
  /** Sets the response of one address; `undefined` resets it. */
  setMailbox(address: string, answer: MailboxAnswer | undefined): void
  /** Refuses a command from now on; `undefined` accepts it again. */
  refuse(command: RefusedCommand, refusal: InboxRefusal | undefined): void
  /** The first matching mail, received before or later; rejects after the timeout, by default 5 s. */
  waitFor: ReceivedItems<Mail>['waitFor']
  /** Calls the listener on every new mail and change of mode until the returned function is called. */
  subscribe: ReceivedItems<Mail>['subscribe']
  /** Deletes all mails. */
  clear(): void
  close(): Promise<void>
}

export interface InboxOptions {
  /** 0, the default, uses any free port. */
  readonly port?: number
  readonly clock?: Clock
  /** Whether it offers a log-in, which it accepts with any password. It needs none. */
  readonly offersLogin?: boolean
}

const MAX_BYTES = 10 * 1024 * 1024

const REFUSALS = {
  temporary: { responseCode: 450, message: 'Mailbox busy, try again later' },
  permanent: { responseCode: 550, message: 'No such mailbox here' },
} as const

/** Starts a mail server on loopback. */
export async function startMailServer(options: InboxOptions = {}): Promise<Inbox> {
  const { port = 0, clock = systemClock, offersLogin = false } = options
  const received = createReceivedItems<Mail>('mail', (mail) => `to ${mail.to}: ${mail.subject}`)
  const mailboxes = new Map<string, MailboxAnswer>()
  let mode: InboxMode = 'ok'
  let count = 0

  const refusals = new Map<RefusedCommand, InboxRefusal>()
  const answerOf = (address: string) => mailboxes.get(address.toLowerCase()) ?? mode
  const keep = async (raw: Buffer, session: SMTPServerSession) => {
    count += 1
    const arrival = { id: count, receivedAt: clock.now(), envelope: envelopeOf(session) }
    received.add(await readMail(raw, arrival))
  }
  const listen = (onPort: number) =>
    listenForMail(onPort, { offersLogin, answerOf, refusals, keep })

  let listener: MailListener | undefined = await listen(port)
  const ownPort = listener.port
  const stop = async () => {
    const stopped = listener
    listener = undefined
    await stopped?.close()
  }
  return {
    url: `smtp://127.0.0.1:${ownPort}`,
    mails: received.all,
    get mode() {
      return mode
    },
    setMode: async (next) => {
      mode = next
      if (next === 'down') await stop()
      else listener ??= await listen(ownPort)
      received.announce()
    },
    setMailbox: (address, answer) => {
      if (answer === undefined) mailboxes.delete(address.toLowerCase())
      else mailboxes.set(address.toLowerCase(), answer)
    },
    refuse: (command, refusal) => {
      if (refusal === undefined) refusals.delete(command)
      else refusals.set(command, refusal)
    },
    waitFor: received.waitFor,
    subscribe: received.subscribe,
    clear: received.clear,
    close: async () => {
      received.close()
      await stop()
    },
  }
}

interface MailListener {
  readonly port: number
  close(): Promise<void>
}

/** How a mail server answers. */
interface MailAnswers {
  readonly offersLogin: boolean
  answerOf(address: string): InboxMode
  readonly refusals: ReadonlyMap<RefusedCommand, InboxRefusal>
  keep(raw: Buffer, session: SMTPServerSession): Promise<void>
}

function createSmtpServer({ offersLogin, answerOf, refusals, keep }: MailAnswers): SMTPServer {
  const refusalOf = (command: RefusedCommand) => {
    const refusal = refusals.get(command)
    return refusal && Object.assign(new Error(), refusal)
  }
  return new SMTPServer({
    name: 'inbox.sandbox',
    disabledCommands: offersLogin ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    size: MAX_BYTES,
    onAuth: ({ username }, _session, callback) => {
      const refusal = refusalOf('auth')
      if (refusal === undefined) callback(null, { user: username })
      else callback(refusal)
    },
    onMailFrom: (_address, _session, callback) => callback(refusalOf('mail') ?? null),
    onRcptTo: ({ address }: SMTPServerAddress, _session, callback) => {
      const answer = answerOf(address)
      const isTaken = answer === 'ok' || answer === 'down'
      const refusal = isTaken ? refusalOf('rcpt') : Object.assign(new Error(), REFUSALS[answer])
      callback(refusal ?? null)
    },
    onData: async (stream, session, callback) => {
      try {
        const raw = await buffer(stream)
        if (stream.sizeExceeded) throw Object.assign(new Error('Too large'), { responseCode: 552 })
        await keep(raw, session)
        callback()
      } catch (error) {
        callback(error instanceof Error ? error : new Error('Not kept'))
      }
    },
  })
}

async function listenForMail(port: number, answers: MailAnswers): Promise<MailListener> {
  const smtp = createSmtpServer(answers)
  const sockets = new Set<Socket>()
  const server = smtp.listen(port, '127.0.0.1')
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // An aborted connection of a client must not end the server.
  smtp.on('error', () => undefined)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    close: async () => {
      const closed = once(server, 'close')
      smtp.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function envelopeOf({ envelope: { mailFrom, rcptTo } }: SMTPServerSession): Mail['envelope'] {
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
  }
}
