import { Api } from 'grammy'

/** Timeout of an ordinary call to Telegram, in seconds. grammY's default is 500. */
export const API_TIMEOUT_SECONDS = 30

/** Address of the Bot API, and the bot's token. */
export interface ApiAccess {
  readonly token: string
  readonly apiRoot: string
}

/**
 * Creates a client of the Bot API.
 * @param timeoutSeconds timeout of a call
 */
export function createApi({ token, apiRoot }: ApiAccess, timeoutSeconds: number): Api {
  return new Api(token, { apiRoot, timeoutSeconds })
}

/** Makes `api` call `listener` for each response 429. Returns the same `api`. */
export function onLimited(api: Api, listener: () => void): Api {
  api.config.use(async (call, method, payload, signal) => {
    const answer = await call(method, payload, signal)
    if (!answer.ok && answer.error_code === 429) listener()
    return answer
  })
  return api
}

type ApiSignal = NonNullable<Parameters<Api['getMe']>[0]>

/** grammY uses the type of an older package; Node's signal has all of its members. */
export function apiSignal(signal: AbortSignal): ApiSignal {
  return signal as unknown as ApiSignal
}
