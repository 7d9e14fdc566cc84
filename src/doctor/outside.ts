/** What the doctor asks of Telegram, the mail server, this machine, and the public address. */
import { createMailer } from '#src/channels/mail/mailer.ts'
import type { Config } from '#src/config.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createApi } from '#src/telegram/api.ts'
import { describe, isTokenRefused } from '#src/telegram/errors.ts'
import { type Finding, ok, warn, wrong } from './finding.ts'
import { connectionWords } from './json-rpc.ts'

const TELEGRAM_SECONDS = 8
const ANSWER_MS = 8000
const MIB = 2 ** 20
const MEMORY_MIB_MIN = 320
const MEMORY_MIB_MIN_EMBEDDED = 512

/** Asks Telegram who the bot is, and whether it delivers its updates. */
export async function examineTelegram({
  telegram,
  publicUrl,
}: Pick<Config, 'telegram' | 'publicUrl'>): Promise<readonly Finding[]> {
  const { token, apiRoot, webhookSecret } = telegram
  if (token === undefined) return []
  const api = createApi({ token, apiRoot }, TELEGRAM_SECONDS)
  try {
    const { username } = await api.getMe()
    const webhook = await api.getWebhookInfo()
    return [
      ok('Telegram', `the bot is @${username}`),
      judgeWebhook(webhook, { publicUrl, usesWebhook: webhookSecret !== undefined }),
    ]
  } catch (error) {
    if (isTokenRefused(error)) {
      return [
        wrong(
          'Telegram',
          'refuses the bot token',
          'put the token of BotFather into TELEGRAM_BOT_TOKEN',
        ),
      ]
    }
    return [
      wrong(
        'Telegram',
        `does not answer (${describe(error)})`,
        'check the way out of this network, or TELEGRAM_API_ROOT',
      ),
    ]
  }
}

/** Judges what Telegram says of the webhook. Pure. */
export function judgeWebhook(
  info: {
    readonly url?: string
    readonly last_error_message?: string
    readonly pending_update_count: number
  },
  { publicUrl, usesWebhook }: { readonly publicUrl: string; readonly usesWebhook: boolean },
): Finding {
  const url = info.url ?? ''
  const host = URL.canParse(url) ? new URL(url).host : url
  if (!usesWebhook && url !== '') {
    return warn(
      'Telegram',
      `delivers updates to ${host}, and this service asks for them itself: the start removes that webhook`,
      'if another program uses this bot, make a bot of its own for each',
    )
  }
  if (usesWebhook && url !== '' && !url.startsWith(publicUrl)) {
    return warn(
      'Telegram',
      `delivers updates to ${host}, not to PUBLIC_URL: the start changes that`,
      'if another installation uses this bot, make a bot of its own for each',
    )
  }
  if (usesWebhook && info.last_error_message !== undefined) {
    return wrong(
      'Telegram',
      `cannot deliver updates: ${info.last_error_message}`,
      'PUBLIC_URL must be reached from the internet with a valid certificate',
    )
  }
  return ok('Telegram', `${info.pending_update_count} updates wait`)
}

/** Logs in to the mail server. */
export async function examineMail(
  { email }: Pick<Config, 'email'>,
  clock: Clock,
): Promise<readonly Finding[]> {
  if (email.smtpUrl === undefined) return []
  const mailer = createMailer(email.smtpUrl, { clock, log: silentLogger })
  const stopping = new AbortController()
  const deadline = setTimeout(() => stopping.abort(), ANSWER_MS)
  try {
    await mailer.checkLogin(stopping.signal)
  } finally {
    clearTimeout(deadline)
  }
  if (stopping.signal.aborted)
    return [wrong('e-mail', 'the mail server does not answer', 'check host and port of SMTP_URL')]
  const problem = mailer.problem()
  if (problem === undefined) return [ok('e-mail', 'the mail server takes the log-in')]
  return [wrong('e-mail', problem, 'check user, password, host and port of SMTP_URL')]
}

/** Asks for a page of the service at its public address, as this machine sees it. */
export async function examinePublicUrl({
  publicUrl,
}: Pick<Config, 'publicUrl'>): Promise<readonly Finding[]> {
  const todo = 'point the name and the proxy to this service, and look again while it runs'
  try {
    const response = await fetch(`${publicUrl}/robots.txt`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    })
    const text = await response.text()
    if (response.status === 200 && text.includes('User-agent'))
      return [ok('public address', 'answers, as this machine sees it')]
    return [
      wrong(
        'public address',
        `${publicUrl} answers ${response.status}, and not as this service`,
        todo,
      ),
    ]
  } catch (error) {
    return [
      wrong('public address', `${publicUrl} cannot be reached (${connectionWords(error)})`, todo),
    ]
  }
}

/** Judges the memory that this process may use. Pure. */
export function judgeMemory({
  bytes,
  isEmbedded,
}: {
  readonly bytes: number
  readonly isEmbedded: boolean
}): Finding {
  const mib = Math.round(bytes / MIB)
  const least = isEmbedded ? MEMORY_MIB_MIN_EMBEDDED : MEMORY_MIB_MIN
  if (mib >= least) return ok('memory', `${mib} MiB`)
  const what = isEmbedded ? 'with the PostgreSQL from npm' : 'with a PostgreSQL elsewhere'
  return wrong(
    'memory',
    `${mib} MiB is too little: ${least} are needed ${what}`,
    isEmbedded ? 'more memory, or DATABASE_URL' : 'more memory',
  )
}
