import { z } from 'zod'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import type { FieldError } from '#src/kernel/errors.ts'
import { Address } from '#src/kernel/units.ts'
import { unknownProblem } from '#src/kernel/validation.ts'
import type { WatchType } from '../define.ts'
import type { SignalChoice } from '../model.ts'
import type { Parameter, Signal } from '../signal.ts'

/** Errors in a watch's signal choices: unknown signals or parameters, values out of range. */
export function checkSignals(
  signals: readonly Signal[],
  choices: readonly SignalChoice[],
): FieldError[] {
  return choices.flatMap((choice, index) => {
    const pointer = `/signals/${index}`
    const signal = signals.find(({ id }) => id === choice.id)
    if (signal === undefined) {
      const known = signals.map(({ id }) => id)
      return [{ pointer: `${pointer}/id`, ...unknownProblem('signal', known, choice.id) }]
    }
    if (choices.findIndex(({ id }) => id === choice.id) !== index) {
      return [{ pointer: `${pointer}/id`, code: 'duplicate' }]
    }
    const noRecovery = choice.recovery !== undefined && signal.events.recovery === undefined
    const recovery = noRecovery ? [{ pointer: `${pointer}/recovery`, code: 'unknown' }] : []
    const parameters = Object.entries(choice.parameters ?? {}).flatMap(([key, value]) =>
      checkParameter(signal.parameters, key, value).map((error) => ({
        ...error,
        pointer: `${pointer}/parameters/${key}`,
      })),
    )
    return [...recovery, ...parameters]
  })
}

function checkParameter(
  parameters: readonly Parameter[],
  key: string,
  value: number | boolean,
): Omit<FieldError, 'pointer'>[] {
  const parameter = parameters.find((candidate) => candidate.key === key)
  if (parameter === undefined) {
    const known = parameters.map((candidate) => candidate.key)
    return [unknownProblem('parameter', known, key)]
  }
  if (parameter.type === 'boolean') {
    return typeof value === 'boolean' ? [] : [{ code: 'type', values: { expected: 'boolean' } }]
  }
  const isNumber = typeof value === 'number' && Number.isFinite(value)
  if (!isNumber || (parameter.type === 'integer' && !Number.isInteger(value))) {
    return [{ code: 'type', values: { expected: parameter.type } }]
  }
  if (value < parameter.min) return [{ code: 'too_small', values: { minimum: parameter.min } }]
  if (value > parameter.max) return [{ code: 'too_big', values: { maximum: parameter.max } }]
  return []
}

/**
 * Signal choices after a change. The changed choices of a signal replace its previous ones; parameters that are not
 * among the changes stay.
 */
export function mergeSignals(
  before: readonly SignalChoice[],
  changes: readonly SignalChoice[],
): SignalChoice[] {
  const merged = new Map(before.map((choice) => [choice.id, choice]))
  for (const change of changes) {
    const old = merged.get(change.id)
    const parameters = { ...old?.parameters, ...change.parameters }
    merged.set(change.id, { ...old, ...change, parameters })
  }
  return [...merged.values()]
}

/**
 * Key of a watch's target. For a type that reads the ledger it is the wallet; for others the target, with
 * the key settings if the type has them. Watches of a type with equal keys share one target.
 */
export function targetKey(
  type: Pick<WatchType, 'reads'>,
  target: unknown,
  wallet: Address,
  keySettings?: unknown,
): string {
  if (type.reads === 'ledger') return ledgerTargetKey(wallet)
  return canonicalJson(keySettings === undefined ? target : { target, keySettings })
}

/** Target key of a wallet's ledger. */
export function ledgerTargetKey(wallet: string): string {
  return canonicalJson({ wallet })
}

/** The wallet in a target key of `ledgerTargetKey`. */
export function walletOfTargetKey(key: string): Address {
  return z.object({ wallet: Address }).parse(JSON.parse(key)).wallet
}
