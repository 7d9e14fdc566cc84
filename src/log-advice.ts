/**
 * What the operator does about a line of the log, by its message. Each line of level `error` is here, because someone must
 * act on it, and those of level `warn` that an outage writes.
 */

const ENDPOINTS =
  'if it stays, replace the endpoint in FLARE_RPC_URLS; see docs/operations.md, WatchdogEndpointFails'
const REPORT = 'report this line to the authors; the service goes on without what it could not do'
const CLOCKS =
  'set the clocks of this host and of the database by NTP; see docs/operations.md, WatchdogProblem'
const PAID = 'npm run admin -- unmatched lists it; credit it with match-payment'
const STOPPED = 'read the lines before; whoever supervises the process starts it again'
const SET_ASIDE = 'report this line to the authors; the row is processed when a release can read it'

export const ADVICE: Readonly<Record<string, string>> = {
  // The database
  'the database does not answer or cannot be written':
    'see that PostgreSQL runs, takes connections and writes, and has disk space left; docs/operations.md, WatchdogProblem',
  'copy of the database cannot be read; lists are read from the database':
    'repair the standby of DATABASE_READ_URL; see docs/operations.md, WatchdogStandbyUnused',
  'deliveries could not be claimed':
    'report this line to the authors; the process tries again every two seconds',
  'waiting for the database': 'start PostgreSQL, or correct DATABASE_URL',
  'the embedded postgres ended unexpectedly':
    'read the lines of PostgreSQL before; the process ends, and its supervisor starts both again',
  'a stored text opens with neither SECRET_KEY nor SECRET_KEY_PREVIOUS; it stays as it is':
    'set the lost key as SECRET_KEY_PREVIOUS; see docs/operations.md, Secrets',
  'clock of this host differs from that of the database': CLOCKS,
  'clock of the database was set back; the clock of the service stands still': CLOCKS,
  'stored times were ahead of the clock and are repaired': CLOCKS,
  'stored positions were later than the clock and are put back': CLOCKS,
  // The chain
  'rpc endpoint failed': ENDPOINTS,
  'rpc endpoint still fails': ENDPOINTS,
  'rpc endpoint names another chain, and is not read while it does': ENDPOINTS,
  'rpc endpoint serves another chain': 'correct FLARE_RPC_URLS or CHAIN_ID',
  'there are no contracts at the address of the registry':
    'empty FLARE_CONTRACT_REGISTRY, which is right on all four chains, or replace endpoints of another network',
  'watch type has no data: alerts are sent to its watches':
    '/readyz on the internal port names the cause; the owners have been told',
  'targets or watches cannot be read: alerts are sent to these watches':
    '/readyz on the internal port names the cause; the owners have been told',
  'watch type was not observed: a dependency is unavailable; the next run tries again':
    '/readyz on the internal port names the dependency',
  'watch type cannot be judged': 'see docs/operations.md, WatchdogNotEvaluated',
  'block cannot be read for payments; later blocks are read, and this block is retried': ENDPOINTS,
  'xrp ledger server lacks ledgers': 'choose a server with full history for XRPL_RPC_URL',
  // Telegram and mail
  'telegram refuses the bot token':
    'if it stays, put a new token of BotFather into TELEGRAM_BOT_TOKEN; docs/operations.md, WatchdogTelegramSilent',
  'updates could not be fetched':
    'if it is a conflict, stop the other program with this bot token; docs/operations.md, WatchdogTelegramSilent',
  'mail server takes no e-mails':
    'correct SMTP_URL or EMAIL_FROM; docs/operations.md, WatchdogMailFails',
  'webhook could not be set':
    'PUBLIC_URL must be reachable from outside over https; docs/operations.md, WatchdogTelegramSilent',
  'poller failed': 'docs/operations.md, WatchdogTelegramSilent',
  'updates cannot be read': REPORT,
  'update was left for later': 'if it stays for an update, report this line to the authors',
  'update was given up': REPORT,
  'screen was refused and sent in a simple form': REPORT,
  // Payments
  'payment was not credited; an operator must look at it': PAID,
  'block of a settled payment was replaced; the payment stays settled':
    'compare the transaction with the chain; npm run admin -- credit takes back what was never paid',
  'credits of failed calls were not refunded; refund these ledger entries by hand':
    'npm run admin -- refund',
  'the ledger of a wallet does not add up': 'docs/operations.md, WatchdogLedgerWrong',
  'no payment router contract at the configured address; token top-ups are unavailable':
    'correct PAYMENT_ROUTER; npm run router -- status reads it',
  'payment token has other decimals than the price list, or is not a token; it is not accepted':
    'correct SERVICE_TOKEN_ADDRESS, WFLR_ADDRESS or FXRP_ADDRESS',
  // Work
  'nothing is sent to anybody':
    'empty SEND_NOTHING to send, also what waits since then; docs/deploy.md, A drill',
  'job failed': 'if it stays, see docs/operations.md, WatchdogJobFails; the job is repeated',
  'delivery broke': REPORT,
  'result of a delivery cannot be written': REPORT,
  'row was set aside, because it cannot be processed': SET_ASIDE,
  'request failed': REPORT,
  'page answered with an error': REPORT,
  'stop took too long; the process ends now':
    'nothing, unless it happens at each stop; then report it to the authors',
  'uncaught error; the service stops': STOPPED,
  'start failed': STOPPED,
  'stop failed': 'nothing: the process ends all the same',
}

/** The fields of a line with what to do about it, if that is known. */
export function withAdvice(
  fields: Readonly<Record<string, unknown>>,
  message: string,
): Readonly<Record<string, unknown>> {
  const todo = ADVICE[message]
  return todo === undefined ? fields : { ...fields, todo }
}
