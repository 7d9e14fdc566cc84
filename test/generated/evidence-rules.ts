/** Makes `examples/evidence/rules.json`: for each event of a claim, a digest of its rule in every locale. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { format } from 'node:util'
import { signalHelp } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { REGISTRY } from '#src/watches/types/index.ts'

export const RULES_FILE = new URL('../../examples/evidence/rules.json', import.meta.url)

/** Digests of the rule of every event that has a claim. */
export function evidenceRules(): Readonly<Record<string, readonly string[]>> {
  const events = REGISTRY.flatMap(({ name, signals }) =>
    signals.flatMap((signal) =>
      signal.events.alerts.flatMap((event) => {
        const claim = signal.claim?.(signal.examples[event] ?? {}, { event, block: 1 })
        const isClaimed = claim !== undefined && typeof claim !== 'string'
        return isClaimed ? [[event, digestsOf(name, signal.id)] as const] : []
      }),
    ),
  )
  return Object.fromEntries(events)
}

function digestsOf(type: string, signal: string): readonly string[] {
  return LOCALES.map((locale) => {
    const { checked } = signalHelp(translator(locale), { type, signal })
    if (checked === undefined) throw new Error(format('no rule of %s.%s', type, signal))
    return createHash('sha256').update(checked).digest('hex')
  })
}

if (import.meta.main) writeFileSync(RULES_FILE, `${JSON.stringify(evidenceRules(), null, 2)}\n`)
