// A customer's program over HTTP, written from the published description alone. It imports none of the service's
// code, so that it fails when the service deviates from its description.

import { z } from 'zod'
import type { DevPerson } from './devnet/accounts.ts'

/** Body of a request, and the expected answer. */
interface CallSpec<Body extends z.ZodType> {
  /** One status, or any of several. */
  readonly status: number | readonly number[]
  /** Schema of the relevant parts of the body. */
  readonly body: Body
  /** JSON body to send. */
  readonly json?: unknown
}

/** A program with a token. */
export interface Customer {
  /** API token, which the header `Authorization: Bearer` contains. */
  readonly token: string
  /**
   * Sends a request below `/api/x402` and returns the answer's body.
   *
   * @throws UnexpectedAnswerError when status or body differ from the expected ones
   */
  call<Body extends z.ZodType>(
    method: string,
    path: string,
    wanted: CallSpec<Body>,
  ): Promise<z.output<Body>>
  /**
   * Calls metered data, below `/data`.
   *
   * @throws UnexpectedAnswerError when it is refused
   */
  callForData(path: string): Promise<DataCall>
}

/** Received data, with the values of its charge headers. */
export interface DataCall {
  readonly data: unknown
  /** Credits charged for the call. */
  readonly charged: number
  /** Balance after it. */
  readonly balance: number
  readonly freeLeft: number
}

/** Thrown for an unexpected answer. */
export class UnexpectedAnswerError extends Error {
  readonly expected: string
  readonly received: string
  constructor(expected: string, received: string) {
    super(`expected ${expected}, but ${received} came`)
    this.name = 'UnexpectedAnswerError'
    this.expected = expected
    this.received = received
  }
}

/** Schema for answers whose body does not matter, or is missing. */
export const ANY_BODY = z.unknown()

const ANSWER_TIMEOUT_MS = 10_000
const Challenge = z.object({ message: z.string() })
const Issued = z.object({ token: z.string().startsWith('fwd_'), wallet: z.string() })

/**
 * Signs in with a wallet: requests a challenge, signs it and exchanges it for a token.
 *
 * @throws UnexpectedAnswerError when an answer differs from the description
 */
export async function signIn(
  publicUrl: string,
  { account }: DevPerson,
  options: { readonly scopes: readonly string[]; readonly label: string },
): Promise<Customer> {
  const anonymous = customer(publicUrl, '')
  const { message } = await anonymous.call('POST', '/auth/challenge', {
    json: { wallet: account.address, ...options },
    status: 200,
    body: Challenge,
  })
  const signature = await account.signMessage({ message })
  const { token, wallet } = await anonymous.call('POST', '/auth/token', {
    json: { message, signature },
    status: 200,
    body: Issued,
  })
  if (wallet !== account.address)
    throw new UnexpectedAnswerError(`a token of ${account.address}`, wallet)
  return customer(publicUrl, token)
}

function customer(publicUrl: string, token: string): Customer {
  return {
    token,
    call: async (method, path, { status, body, json }) => {
      const response = await fetch(`${publicUrl}/api/x402${path}`, {
        method,
        headers: {
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      })
      const text = await response.text()
      const requestText = `${method} ${path}`
      const statuses = [status].flat()
      if (!statuses.includes(response.status)) {
        throw new UnexpectedAnswerError(
          `${statuses.join(' or ')} to ${requestText}`,
          `${response.status} ${text}`,
        )
      }
      const parsed = body.safeParse(text === '' ? undefined : JSON.parse(text))
      if (parsed.success) return parsed.data
      throw new UnexpectedAnswerError(
        `an answer to ${requestText} that matches its schema`,
        `${text} (${issuesText(parsed.error)})`,
      )
    },
    callForData: async (path) => {
      const response = await fetch(`${publicUrl}/data${path}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      })
      const text = await response.text()
      if (response.status !== 200) {
        throw new UnexpectedAnswerError(`200 to GET /data${path}`, `${response.status} ${text}`)
      }
      const numberOf = (header: string) => Number(response.headers.get(header) ?? 'NaN')
      return {
        data: JSON.parse(text),
        charged: numberOf('x-credits-charged'),
        balance: numberOf('x-credits-balance'),
        freeLeft: numberOf('x-free-tier-remaining'),
      }
    },
  }
}

function issuesText({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}
