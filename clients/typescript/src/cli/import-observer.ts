/** Turns the settings of fsp-observer into a file of watches. Secrets stay where they are: the file names their variables. */
import { Document } from 'yaml'
import { readVariables, type Variable } from './environment.ts'
import { FileError } from './problems.ts'

/** A file of watches, and what it could not take over. */
export interface Imported {
  readonly yaml: string
  readonly left: readonly string[]
}

/** Variables with addresses of chats, which become recipients. Each may have several, with commas. */
const HOOKS: Readonly<Record<string, readonly [channel: string, name: string]>> = {
  NOTIFICATION_DISCORD_WEBHOOK: ['discord', 'Discord'],
  NOTIFICATION_DISCORD_EMBED_WEBHOOK: ['discord', 'Discord, embeds'],
  NOTIFICATION_SLACK_WEBHOOK: ['slack', 'Slack'],
  NOTIFICATION_SLACK_EMBED_WEBHOOK: ['slack', 'Slack, embeds'],
  NOTIFICATION_GENERIC_WEBHOOK: ['webhook', 'Webhook'],
}

/** Variables that need nothing here, with the reason. */
const UNNEEDED: Readonly<Record<string, string>> = {
  RPC_BASE_URL: 'the service reads the chain itself; it must serve the network of your provider',
  RPC_URL: 'the service reads the chain itself; it must serve the network of your provider',
  METRICS_ENABLED: 'the figures are at /providers/<address>/metrics of the service',
  METRICS_PORT: 'the figures are at /providers/<address>/metrics of the service',
  METRICS_ADDRESS: 'the figures are at /providers/<address>/metrics of the service',
  LOG_LEVEL: 'the service has no log of yours',
  MAX_BLOCK_RANGE: 'the service reads the chain itself',
  BLOCK_PRODUCTION_LOOKBACK: 'the service reads the chain itself',
  SUPPRESS_FTSO_MISSING_FEED: 'the service has no alert for values that are left out of a commit',
  NOTIFICATION_TELEGRAM_BOT_TOKEN:
    'the service has a bot of its own: apply prints a link that adds it to your chat',
  NOTIFICATION_TELEGRAM_CHAT_ID:
    'the service has a bot of its own: apply prints a link that adds it to your chat',
}

const PROBABILITY_MAX = 0.1
const BALANCE_MAX = 100_000

/**
 * Reads a `.env` file of fsp-observer.
 *
 * @param path names the file in errors
 * @throws FileError for lines that are no assignments, and without a usable identity address
 */
export function importObserver(path: string, text: string): Imported {
  const { variables, mistakes } = readVariables(text)
  const byName = new Map(variables.map((variable) => [variable.name, variable]))
  const identity = byName.get('IDENTITY_ADDRESS')
  const isAddress = /^0x[0-9a-fA-F]{40}$/.test(identity?.value ?? '')
  const problems = [
    ...mistakes,
    ...(isAddress
      ? []
      : [{ line: identity?.line ?? 1, text: 'IDENTITY_ADDRESS must be an address' }]),
  ]
  if (identity === undefined || problems.length > 0) throw new FileError(path, problems)
  const { signals, left } = signalsOf(byName)
  const recipients = recipientsOf(byName)
  const names = Object.keys(recipients)
  const watch = {
    type: 'provider-fsp',
    target: { provider: identity.value },
    ...(names.length > 0 && { recipients: names }),
    ...(signals.length > 0 && { signals }),
  }
  const known = [
    ...Object.keys(HOOKS),
    'IDENTITY_ADDRESS',
    'FEE_THRESHOLD',
    'FALSE_POSITIVE_THRESHOLD',
  ]
  const others = variables.filter(({ name }) => !known.includes(name))
  return {
    yaml: yamlOf({
      ...(names.length > 0 && { recipients }),
      watches: { [`Provider ${identity.value.slice(0, 6)}…${identity.value.slice(-4)}`]: watch },
    }),
    left: [...left, ...others.map((variable) => leftNote(variable))],
  }
}

function leftNote({ name, line }: Variable): string {
  const reason = UNNEEDED[name] ?? 'unknown here'
  return `line ${line}: ${name} is not taken over: ${reason}`
}

function recipientsOf(
  variables: ReadonlyMap<string, Variable>,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const hooks = Object.entries(HOOKS).flatMap(([variable, [channel, name]]) => {
    const parts = (variables.get(variable)?.value ?? '').split(',')
    return parts.flatMap((part, index) => {
      if (part.trim() === '') return []
      const reference = parts.length === 1 ? variable : `${variable}[${index}]`
      const label = parts.length === 1 ? name : `${name} ${index + 1}`
      return [[label, { channel, url: `\${${reference}}` }]]
    })
  })
  const hasChat = ['NOTIFICATION_TELEGRAM_BOT_TOKEN', 'NOTIFICATION_TELEGRAM_CHAT_ID'].every(
    (name) => (variables.get(name)?.value ?? '') !== '',
  )
  return Object.fromEntries([...hooks, ...(hasChat ? [['Telegram', { channel: 'telegram' }]] : [])])
}

/** The thresholds, as parameters of signals. */
function signalsOf(variables: ReadonlyMap<string, Variable>) {
  const left: string[] = []
  const read = (name: string, fits: (value: number) => boolean, limits: string) => {
    const variable = variables.get(name)
    if (variable === undefined || variable.value === '') return undefined
    const value = Number(variable.value)
    if (fits(value)) return value
    left.push(`line ${variable.line}: ${name} is not taken over: it must be ${limits}`)
    return undefined
  }
  const minimumFlr = read(
    'FEE_THRESHOLD',
    (value) => Number.isInteger(value) && value >= 1 && value <= BALANCE_MAX,
    `a whole number from 1 to ${BALANCE_MAX}`,
  )
  const percent = read(
    'FALSE_POSITIVE_THRESHOLD',
    (value) => value >= 1e-13 && value / 100 <= PROBABILITY_MAX,
    `a percentage above 0 and up to ${PROBABILITY_MAX * 100}`,
  )
  const signals = [
    ...(minimumFlr === undefined ? [] : [{ id: 'balance-low', parameters: { minimumFlr } }]),
    ...(percent === undefined
      ? []
      : [
          {
            id: 'fast-updates',
            parameters: { probability: Number((percent / 100).toPrecision(6)) },
          },
        ]),
  ]
  return { signals, left }
}

function yamlOf(contents: unknown): string {
  const document = new Document(contents)
  document.commentBefore =
    ' Watches in Git: flare-watchdog plan and apply. Names in braces are environment variables.'
  return document.toString({ lineWidth: 0, singleQuote: true })
}
