/** The command `flare-watchdog`: watches in a file. */
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Watchdog } from '../client.ts'
import { WatchdogError } from '../errors.ts'
import type { Recipient } from '../generated/models.ts'
import { applyPlan } from './apply.ts'
import { readWatchFile } from './document.ts'
import { type Environment, References, readVariables } from './environment.ts'
import { importObserver } from './import-observer.ts'
import { makePlan, type Plan } from './plan.ts'
import { CommandError, FileError } from './problems.ts'
import { showPlan } from './show.ts'
import { readPresent } from './state.ts'
import { type Present, readWanted, type Wanted } from './wanted.ts'

const USAGE = `flare-watchdog plan  watches.yaml   shows what apply would change; ends with 2 if there is something
flare-watchdog apply watches.yaml   brings the service to what the file says
flare-watchdog test  watches.yaml   sends a test to each recipient of the file
flare-watchdog import fsp-observer .env   writes watches.yaml from the settings of fsp-observer

  --prune            also delete what the file does not name, and replace what cannot be changed
  --dry-run          apply: only show
  --env-file FILE    further variables for \${NAME} in the file
  --secrets FILE     where apply keeps the signing secrets of new webhooks (watches.secrets.env)
  --out FILE         import: the file to write (watches.yaml)

WATCHDOG_URL       address of the API, such as https://watchdog.example.org/api/x402
WATCHDOG_TOKEN     an API token, from the page /tokens of the service: read for plan, write for the others
`

/** Results of a command: as terraform's `-detailed-exitcode`. */
const EXIT = { same: 0, failed: 1, differs: 2 } as const

const OPTIONS = {
  prune: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  'env-file': { type: 'string', multiple: true },
  secrets: { type: 'string' },
  out: { type: 'string', default: 'watches.yaml' },
  help: { type: 'boolean', default: false },
} as const

type Options = ReturnType<typeof readArguments>['values']

function readArguments(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true })
}

/** What a command works with. */
interface Context {
  readonly environment: Environment
  readonly out: (text: string) => void
  readonly error: (text: string) => void
}

/**
 * Runs the command with its arguments.
 *
 * @returns the exit code: 0; 1 for an error; 2 if `plan` finds differences
 */
export async function main(args: readonly string[], context: Context): Promise<number> {
  let references = new References({})
  try {
    const { values, positionals } = readArguments(args)
    const [command, ...rest] = positionals
    if (values.help || command === undefined) {
      context.out(USAGE)
      return values.help ? EXIT.same : EXIT.failed
    }
    if (command === 'import') return await runImport(rest, values, context)
    const environment = { ...(await readEnvFiles(values)), ...context.environment }
    references = new References(environment)
    const run = { apply: runApply, plan: runPlan, test: runTest }[command]
    if (run === undefined) throw new CommandError(`unknown command "${command}"\n\n${USAGE}`)
    const prepared = await prepare(rest, environment, references)
    const out = (text: string) => context.out(references.hide(text))
    return await run(prepared, values, { ...context, environment, out })
  } catch (error) {
    context.error(`${references.hide(describe(error))}\n`)
    return EXIT.failed
  }
}

function describe(error: unknown): string {
  if (!(error instanceof WatchdogError))
    return error instanceof Error ? error.message : String(error)
  const places = error.errors.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)
  const hint =
    error.code === 'no_free_slot' ? ['  Buy a slot, or start the trial, and apply again.'] : []
  const number = error.requestId === undefined ? [] : [`  request ${error.requestId}`]
  return [`${error.code}: ${error.message}`, ...places, ...hint, ...number].join('\n')
}

async function readEnvFiles({ 'env-file': files = [] }: Options): Promise<Environment> {
  const all = await Promise.all(
    files.map(async (file) => {
      const { variables, mistakes } = readVariables(await read(file))
      if (mistakes.length > 0) throw new FileError(file, mistakes)
      return variables.map(({ name, value }) => [name, value] as const)
    }),
  )
  return Object.fromEntries(all.flat())
}

/** @throws CommandError that names the file */
async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(
      `${file} cannot be read: ${error instanceof Error ? error.message : error}`,
    )
  }
}

interface Prepared {
  readonly file: string
  readonly watchdog: Watchdog
  readonly present: Present
  readonly wanted: Wanted
}

/** Reads the file before anything is asked of the service, and both before anything is sent. */
async function prepare(
  [file, ...others]: readonly string[],
  environment: Environment,
  references: References,
): Promise<Prepared> {
  if (file === undefined || others.length > 0) {
    throw new CommandError(`name one file\n\n${USAGE}`)
  }
  const document = readWatchFile(file, await read(file), references)
  const { WATCHDOG_URL: address, WATCHDOG_TOKEN: token } = environment
  if (!address || !token) throw new CommandError('set WATCHDOG_URL and WATCHDOG_TOKEN')
  const watchdog = new Watchdog({ baseUrl: baseUrlOf(address), token, locale: 'en' })
  const present = await readPresent(watchdog, document)
  return { file, watchdog, present, wanted: readWanted(document, present) }
}

/** The address of the API; that of the service itself will do. */
function baseUrlOf(address: string): string {
  if (!URL.canParse(address)) throw new CommandError('WATCHDOG_URL is no address')
  const url = new URL(address)
  return url.pathname === '/' ? new URL('/api/x402', url).href : url.href
}

async function runPlan(
  { present, wanted }: Prepared,
  { prune }: Options,
  { out }: Context,
): Promise<number> {
  const plan = makePlan(present, wanted, prune)
  out(showPlan(plan))
  return plan.steps.length === 0 ? EXIT.same : EXIT.differs
}

async function runApply(prepared: Prepared, options: Options, context: Context): Promise<number> {
  const { file, watchdog, present, wanted } = prepared
  if (options['dry-run']) return runPlan(prepared, options, context)
  const { prune } = options
  const secrets = options.secrets ?? join(dirname(file), 'watches.secrets.env')
  const done: string[] = []
  await prepareSecrets(secrets, makePlan(present, wanted, prune))
  try {
    const left = await applyPlan(
      {
        watchdog,
        wanted,
        prune,
        say: (line) => {
          done.push(line)
          context.out(`${line}\n`)
        },
        keepSecret: async (name, secret) => {
          await appendFile(secrets, `${variableOf(name)}=${secret}\n`, { mode: 0o600 })
          context.out(`the signing secret of "${name}" is in ${secrets}: keep it out of Git\n`)
        },
      },
      present,
    )
    context.out(`${done.length > 0 ? '\n' : ''}${showPlan(left)}`)
    return left.steps.length === 0 ? EXIT.same : EXIT.failed
  } catch (error) {
    const sum = done.length === 0 ? 'Nothing was done.' : 'What is listed above was done.'
    context.out(`${sum} Apply again to continue.\n`)
    throw error
  }
}

/**
 * A signing secret is shown once: a file that cannot be written is found before a webhook is created.
 *
 * @throws CommandError that names the file
 */
async function prepareSecrets(secrets: string, { steps }: Plan): Promise<void> {
  const hasWebhook = steps.some(
    (step) =>
      step.what === 'recipient' && step.kind !== 'delete' && step.wanted.channel === 'webhook',
  )
  if (!hasWebhook) return
  try {
    await appendFile(secrets, '', { mode: 0o600 })
  } catch (error) {
    throw new CommandError(
      `${secrets} cannot be written: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** `WATCHDOG_SECRET_ON_CALL` for "On call". */
function variableOf(name: string): string {
  return `WATCHDOG_SECRET_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
}

async function runTest(
  { watchdog, present, wanted }: Prepared,
  _options: Options,
  { out }: Context,
): Promise<number> {
  const results: string[] = []
  for (const { label, channel } of wanted.recipients ?? []) {
    const found = present.recipients.find(({ name }) => name === label)
    const outcome = await outcomeOfTest(watchdog, found, channel)
    results.push(outcome)
    out(`${label}: ${outcome}\n`)
  }
  if (results.length === 0) throw new CommandError('the file has no recipients')
  const isSent = (outcome: string) => outcome === 'delivered' || outcome === 'queued'
  const isFine = results.every((outcome) => isSent(outcome) || outcome.startsWith(WAITS))
  return isFine && results.some(isSent) ? EXIT.same : EXIT.failed
}

/** What a person must do first is no failure, as long as somebody gets the test. */
const WAITS = 'waits'

async function outcomeOfTest(
  watchdog: Watchdog,
  recipient: Recipient | undefined,
  channel: string,
): Promise<string> {
  if (recipient?.status === 'pending') return `${WAITS}: its reader must confirm it`
  if (recipient !== undefined) return await testOne(watchdog, recipient.id)
  return channel === 'telegram'
    ? `${WAITS}: a person must link its chat`
    : 'does not exist: apply first'
}

async function testOne(watchdog: Watchdog, id: number): Promise<string> {
  try {
    const result = await watchdog.testRecipient(id)
    if (result.status !== 'failed') return result.status
    return `failed (${result.lastError ?? result.statusCode ?? 'no answer'})`
  } catch (error) {
    if (error instanceof WatchdogError && error.status === 409) return error.message
    throw error
  }
}

async function runImport(
  [source, file, ...others]: readonly string[],
  { out: target }: Options,
  { out }: Context,
): Promise<number> {
  if (source !== 'fsp-observer' || file === undefined || others.length > 0) {
    throw new CommandError(`flare-watchdog import fsp-observer .env\n\n${USAGE}`)
  }
  const { yaml, left } = importObserver(file, await read(file))
  try {
    await writeFile(target, yaml, { flag: 'wx' })
  } catch (error) {
    throw new CommandError(
      `${target} cannot be written: ${error instanceof Error ? error.message : error}`,
    )
  }
  out(
    [
      ...left,
      `wrote ${target}`,
      `next: flare-watchdog apply ${target} --env-file ${file}`,
      '',
    ].join('\n'),
  )
  return EXIT.same
}
