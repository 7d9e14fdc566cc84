/** What the event of an alert claims, how severe it is, and by which rule: a second statement of the service's rules. */
import { createHash } from 'node:crypto'
import { isEqual, must } from './claim.ts'
import type { ClaimOf, Data, Evidence, Kind } from './file.ts'
import { Refuted, Unchecked } from './rpc.ts'
import digests from './rules.json' with { type: 'json' }

const FLR = 10n ** 18n
/** Balance up to which an alert is critical. */
const CRITICAL_WEI = 5n * FLR
/** The least used share of an error budget of which an alert tells. */
const USED_MIN = 0.05
/** Time before the expiry of the oldest at which unclaimed rewards are a warning. */
const NEAR_EXPIRY_MS = 14 * 86_400_000
/** Silent rounds in a row from which on an alert about a duty is critical. */
const SILENT_ROUNDS_MIN = 2

/** Share and least number of the other providers from which on an alert is one step less severe. */
const [NETWORK_SHARE, NETWORK_PROVIDERS] = [0.3, 3]
const LOWER = { info: 'info', warning: 'info', critical: 'warning' } as const

/** How severe an event is: by its claim; `silence`: critical if the provider sent nothing at all in the last rounds. */
type Severity = 'info' | 'warning' | 'critical' | 'silence'

interface EventRule<K extends Kind = Kind> {
  readonly kind: K
  /** Properties of the claim that the event determines. */
  readonly claim?: Partial<ClaimOf<K>>
  /** Refutes claims that the event does not make. */
  fits?(claim: ClaimOf<K>): void
  severity(claim: ClaimOf<K>, firedAt: string): Severity
}

/** A rule that is called with claims of its kind only. */
function ruleOf<K extends Kind>(rule: EventRule<K>): EventRule {
  return rule as unknown as EventRule
}

const always = (severity: Severity) => () => severity

type Checks = ClaimOf<'round'>['checks']

/** A duty of one or more rounds in a row; `isPenalised`: it costs more after a commit. */
function duty(
  checks: Checks,
  options: { readonly isSilence?: boolean; readonly isPenalised?: boolean } = {},
): EventRule {
  return ruleOf({
    kind: 'round',
    claim: { checks },
    severity: ({ values, streak, required }) => {
      const isMild = values.valuesSent !== undefined && values.feedCount !== undefined
      const isLong = !isMild && streak >= 2 * required
      if (isLong || (options.isPenalised && values.commitPresent)) return 'critical'
      return options.isSilence === true ? 'silence' : 'warning'
    },
  })
}

/** An offence, for which one round is enough. */
function offence(checks: Checks, severity: Severity): EventRule {
  return ruleOf({ kind: 'round', claim: { checks, required: 1 }, severity: always(severity) })
}

function rate(condition: ClaimOf<'rate'>['condition']): EventRule {
  return ruleOf({
    kind: 'rate',
    claim: { condition },
    fits: ({ used }) => must(used >= USED_MIN, `${used} of the budget is too little`),
    severity: ({ used }) => (used > 1 ? 'critical' : 'warning'),
  })
}

function openVote(vote: ClaimOf<'vote'>['vote'], minutes: number): EventRule {
  const claim = { vote, isConcluded: false, minutes }
  return ruleOf({ kind: 'vote', claim, severity: always('warning') })
}

/** Rules by event; several where an event makes claims of several kinds. */
const EVENTS: Readonly<Record<string, EventRule | readonly EventRule[]>> = {
  'fsp.ftso-commit': duty(['commit'], { isSilence: true }),
  'fsp.ftso-reveal': duty(['reveal', 'feedValues'], {
    isSilence: true,
    isPenalised: true,
  }),
  'fsp.ftso-signature': duty(['signature'], { isSilence: true }),
  'fsp.fdc-bitvote': duty(['bitVote'], { isSilence: true }),
  'fsp.fdc-signature': duty(['fdcSignature'], { isSilence: true }),
  'fsp.fdc-bitvote-length': duty(['bitVoteLength']),
  'fsp.fdc-consensus': duty(['consensus']),
  'fsp.fdc-submit1': offence(['strayCommit'], 'warning'),
  'fsp.reveal-offence': offence(['revealOffence'], 'critical'),
  'fsp.signature-mismatch': offence(['mismatch', 'fdcMismatch'], 'critical'),
  'fsp.signature-grace': offence(['grace', 'fdcGrace'], 'warning'),
  'fsp.fdc-reveal-offence': offence(['fdcOffence'], 'critical'),
  'fsp.mc-anchor': rate('mc-anchor'),
  'fsp.mc-fdc': rate('mc-fdc'),
  'fsp.tx-failed': ruleOf({ kind: 'failed-call', severity: always('warning') }),
  'fsp.fast-updates': [
    ruleOf({
      kind: 'silence',
      severity: ({ rule }) => (rule === 'probability' ? 'critical' : 'warning'),
    }),
    ruleOf({ kind: 'update', severity: always('warning') }),
  ],
  'fsp.registration': ruleOf({ kind: 'registration', severity: always('critical') }),
  'fsp.not-in-policy': ruleOf({
    kind: 'membership',
    fits: ({ voters, startRound }) =>
      must(voters !== null && startRound !== null, 'the policy has no voters or no first round'),
    severity: always('critical'),
  }),
  'provider.unregistered': ruleOf({
    kind: 'membership',
    claim: { voters: null, startRound: null },
    severity: always('critical'),
  }),
  'provider.eligibility-lost': ruleOf({ kind: 'eligibility', severity: always('critical') }),
  'fsp.balance-low': ruleOf({
    kind: 'balance',
    fits: ({ limitWei }) => must(BigInt(limitWei) > 0n, 'the limit is nothing'),
    severity: ({ balanceWei }) => (BigInt(balanceWei) <= CRITICAL_WEI ? 'critical' : 'warning'),
  }),
  'fsp.rewards-unclaimed': ruleOf({
    kind: 'rewards',
    severity: ({ expiresAt }, firedAt) => {
      const left = expiresAt === null ? Infinity : Date.parse(expiresAt) - Date.parse(firedAt)
      return left <= NEAR_EXPIRY_MS ? 'warning' : 'info'
    },
  }),
  'fsp.validator-not-listed': ruleOf({ kind: 'listing', severity: always('critical') }),
  'signing.uptime-open': openVote('uptime', 120),
  'signing.rewards-open': openVote('rewards', 120),
  'signing.rewards-reminder': openVote('rewards', 720),
  'signing.missed': ruleOf({
    kind: 'vote',
    claim: { isConcluded: true, minutes: null },
    severity: always('critical'),
  }),
}

/** The parts of evidence that belong together. */
type Stated = Pick<Evidence, 'event' | 'severity' | 'rule' | 'firedAt' | 'claim' | 'data'>

/** What the chain must say for the severity: that the provider sent nothing in these last rounds, or that it did. */
export interface SilenceClaimed {
  readonly rounds: number
  readonly isSilent: boolean
}

/**
 * Refutes evidence whose event, severity or rule is not that of its claim.
 *
 * @returns what remains to be checked on the chain; undefined: nothing
 */
export function checkEvent({
  event,
  severity,
  rule,
  firedAt,
  claim,
  data,
}: Stated): SilenceClaimed | undefined {
  const rules = [(Object.hasOwn(EVENTS, event) && EVENTS[event]) || []].flat()
  if (rules.length === 0) throw new Unchecked(`the event ${event} is not known here`)
  const known = rules.find(({ kind }) => kind === claim.kind)
  if (known === undefined) {
    throw new Refuted(`${event} makes no claim of the kind ${claim.kind}`)
  }
  for (const [name, value] of Object.entries(known.claim ?? {})) {
    must(
      isEqual(value, (claim as Data)[name]),
      `${event} claims ${JSON.stringify(value)} for ${name}`,
    )
  }
  known.fits?.(claim)
  checkRule(event, rule)
  const usual = known.severity(claim, firedAt)
  const isLower = isNetworkWide(data['others'])
  const inForce = (full: 'info' | 'warning' | 'critical') => (isLower ? LOWER[full] : full)
  if (usual !== 'silence') {
    const expected = inForce(usual)
    must(severity === expected, `${event} with these figures is ${expected}, not ${severity}`)
    return undefined
  }
  const [alone, silent] = [inForce('warning'), inForce('critical')]
  must(severity === alone || severity === silent, `${event} is never ${severity}`)
  const required = claim.kind === 'round' ? claim.required : 0
  const rounds = Math.max(required, SILENT_ROUNDS_MIN)
  return { rounds, isSilent: severity === silent }
}

/** Whether so many other providers failed, as the alert says, that it is one step less severe. */
function isNetworkWide(others: unknown): boolean {
  const { total, failed } = (others ?? { total: 0, failed: 0 }) as Record<
    'total' | 'failed',
    number
  >
  return failed >= NETWORK_PROVIDERS && failed >= NETWORK_SHARE * total
}

/** The rule must be in the words of the service, in one of its languages. */
function checkRule(event: string, rule: string | null): void {
  const known: readonly string[] =
    (digests as Readonly<Record<string, readonly string[]>>)[event] ?? []
  const digest = createHash('sha256').update(String(rule)).digest('hex')
  if (!known.includes(digest)) {
    throw new Unchecked(`the rule is not that of ${event} in the words that are known here`)
  }
}
