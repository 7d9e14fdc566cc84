/**
 * Checks identifiers for words with a better one. Comments, texts and SQL in other files are not read. Run by
 * `npm run lint`.
 */
import { globSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

interface Banned {
  /** Matches a whole identifier. */
  readonly pattern: RegExp
  readonly instead: string
}

/**
 * Banned identifiers. A pattern matches at the start of an identifier, or where a capital begins a part of it.
 */
const BANNED: readonly Banned[] = [
  { pattern: /^(un)?told|(Told|Untold)(?![a-z])/, instead: 'notified, notification' },
  {
    pattern: /^tell(s|ing|ings|er)?(?![a-z])|Tell(ing|ings|er)?(?![a-z])/,
    instead: 'notify, notifier',
  },
  { pattern: /^(take|drop|retime|reschedule|count|list|fail)(Newest)?Held/, instead: 'deferred' },
  { pattern: /^(list|send|drop|revive)Kept/, instead: 'retained' },
  { pattern: /^note[A-Z]/, instead: 'recordX or markX' },
  { pattern: /^lanes?$|Lanes?$|^lane[A-Z]/, instead: 'partitionKey, ConcurrencyLimiter' },
  { pattern: /^[mM]arket$|^createMarket$|^AssetPlace$/, instead: 'paymentOptions' },
  { pattern: /^unlessAway$|^blind$/, instead: 'undefinedIfUnavailable, staleChainMs' },
  { pattern: /^[aA]larm(?!s?ing)|[a-z]Alarms?$/, instead: 'chainOutage' },
  { pattern: /^standings?$|Standing$/, instead: 'status with its noun' },
  { pattern: /^giveBack|^debts$|^owe$/, instead: 'refund, pendingRefunds' },
  {
    pattern: /^(Lens|Guide|USUAL|Written)$/,
    instead: 'KeySettings, SignalForm, DEFAULTS, SignalInput',
  },
  { pattern: /^shownAs$|^selectActive$/, instead: 'currentContent, activeTokenQuery' },
  { pattern: /^(Debts|settleDebts|owedSince)$/, instead: 'PendingRefunds' },
  { pattern: /^Blindness$/, instead: 'OutageData' },
  {
    pattern: /^(create)?(Keeper|Player)$|[hH]appenings?$/,
    instead: 'EpochDaemon, ProviderSimulation, Scenario',
  },
  { pattern: /[a-z]News$/, instead: '…Listener, …Outcome, isFirst' },
  {
    pattern:
      /^(lookAnew|askForLook|startAfresh|standAfter|isInTheWay|isUnheard|hearsOf|[hH]earing)$/,
    instead: 'verb and object, as requestObservation, wakeLedgerJudge, watchSelection',
  },
]

/** Types of one word that would fit several rooms. */
const HOMONYM =
  /\b(?:interface|type|class) (Verdict|Outcome|Check|Look|Account|Standing|Raised|Fired)\b/

/** Keys of stored state, which keep the names they were stored by. */
const STORED: ReadonlySet<string> = new Set(['openToldAt', 'isTold'])

/** Files that a generator writes, or that list these words. */
const EXCEPT = /^test\/(support\/words|words\.test)\.ts$|^test\/generated\//
/** These files contain names of columns. */
const HAS_SQL = /(store|tables)\.ts$|\.test\.ts$|^test\//
const COLUMNS = /^lane$|_/

/**
 * Banned identifiers of a source text.
 *
 * @returns one line for each: the path with the line's number, the identifier, what to say instead
 */
export function findBannedWords(path: string, text: string): readonly string[] {
  if (EXCEPT.test(path)) return []
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'/gm, (part) =>
    part.replaceAll(/[^\n]/g, ' '),
  )
  const isColumn = (name: string) => HAS_SQL.test(path) && COLUMNS.test(name)
  return code.split('\n').flatMap((line, index) => {
    const at = `${path}:${index + 1}`
    const homonym = HOMONYM.exec(line)?.[1]
    const names = [...new Set(line.match(/[A-Za-z_$][\w$]*/g))]
    const found = names.flatMap((name) => {
      const banned = BANNED.find(({ pattern }) => pattern.test(name))
      if (banned === undefined || STORED.has(name) || isColumn(name)) return []
      return [`${at} ${name}: say ${banned.instead}`]
    })
    return homonym === undefined ? found : [...found, `${at} type ${homonym}: say whose it is`]
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const paths = globSync('{src,bot,sandbox,test}/**/*.ts')
  const found = paths.flatMap((path) => findBannedWords(path, readFileSync(path, 'utf8')))
  for (const line of found) process.stderr.write(`${line}\n`)
  if (found.length > 0) process.exitCode = 1
}
