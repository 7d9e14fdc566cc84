/**
 * Messages of the real server, by error token.
 * @see rippled, `ErrorCodes`
 */
const ERRORS = {
  tooBusy: [9, 'The server is too busy to help you now.'],
  slowDown: [10, 'You are placing too much load on the server.'],
  noNetwork: [17, 'Not synced to the network.'],
  notSynced: [18, 'Not synced to the network.'],
  actNotFound: [19, 'Account not found.'],
  lgrNotFound: [21, 'Ledger not found.'],
  txnNotFound: [29, 'Transaction not found.'],
  invalidParams: [31, 'Invalid parameters.'],
  unknownCmd: [32, 'Unknown method.'],
  actMalformed: [35, 'Account malformed.'],
  lgrIdxsInvalid: [57, 'Ledger indexes invalid.'],
  lgrIdxMalformed: [58, 'Ledger index malformed.'],
  internal: [73, 'Internal error.'],
  notImpl: [74, 'Not implemented.'],
  invalidLgrRange: [79, 'Ledger range is invalid.'],
} as const

/** Token of an error. */
export type ErrorToken = keyof typeof ERRORS

/** An error in a result. */
export interface MethodError {
  readonly error: ErrorToken
  readonly error_code: number
  readonly error_message: string
}

/** A method's refusal. */
export class XrplRefusal extends Error {
  readonly body: MethodError & Readonly<Record<string, unknown>>

  /**
   * @param message instead of the usual one
   * @param more further properties of the error
   */
  constructor(
    token: ErrorToken,
    { message, ...more }: { readonly message?: string; readonly [key: string]: unknown } = {},
  ) {
    super(token)
    this.body = { ...errorOf(token), ...(message && { error_message: message }), ...more }
  }
}

/** An error with its number and its usual text. */
export function errorOf(error: ErrorToken): MethodError {
  const [code, message] = ERRORS[error]
  return { error, error_code: code, error_message: message }
}
