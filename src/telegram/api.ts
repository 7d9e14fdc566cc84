import { Api } from 'grammy'

/** Longest an ordinary call to Telegram may take, in seconds. grammY's own limit is 500. */
export const API_TIMEOUT_SECONDS = 30

/** Where the Bot API is, and as whom. */
export interface ApiAccess {
  readonly token: string
  readonly apiRoot: string
}

/** A client of the Bot API. @param timeoutSeconds longest a call may take */
export function createApi({ token, apiRoot }: ApiAccess, timeoutSeconds: number): Api {
  return new Api(token, { apiRoot, timeoutSeconds })
}

type ApiSignal = NonNullable<Parameters<Api['getMe']>[0]>

/** grammY names the type of an older package; what Node makes has all of its members. */
export function apiSignal(signal: AbortSignal): ApiSignal {
  return signal as unknown as ApiSignal
}
