/** The words of a plan. */
import type { Change, Plan, Step } from './plan.ts'

/** The lines of a plan, and its sum. */
export function showPlan({ steps, unlinked, notes }: Plan): string {
  const lines = [
    ...steps.flatMap(showStep),
    ...unlinked.map((name) => `! recipient "${name}" waits: a person must link its chat`),
    ...notes.map((note) => `! ${note}`),
  ]
  return [...lines, ...(lines.length > 0 ? [''] : []), sumOf(steps), ''].join('\n')
}

function sumOf(steps: readonly Step[]): string {
  if (steps.length === 0) return 'No change: the service is as the file says.'
  const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length
  return `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete.`
}

/** What a step is about. */
export function nameOf(step: Step): string {
  if (step.what === 'settings') return 'settings'
  if (step.kind !== 'delete') return `${step.what} "${step.wanted.label}"`
  return `${step.what} "${step.what === 'watch' ? step.present.label : step.present.name}"`
}

/** The lines of one step. */
function showStep(step: Step): readonly string[] {
  if (step.kind === 'delete') return [`- ${nameOf(step)}`]
  if (step.kind === 'change') return [`~ ${nameOf(step)}`, ...step.changes.map(showChange)]
  const facts = [...Object.entries(step.wanted.body), ...listsOf(step)].filter(
    ([key]) => !['name', 'label'].includes(key),
  )
  return [
    `${step.replaces === undefined ? '+' : '-/+'} ${nameOf(step)}`,
    ...facts.map(([key, value]) => `    ${key}: ${showValue(value)}`),
  ]
}

/** The recipients of a new watch, by name. */
function listsOf(step: Step): readonly (readonly [string, unknown])[] {
  if (step.kind !== 'create' || step.what !== 'watch') return []
  const { recipients, escalateTo } = step.wanted
  const lists = [['recipients', recipients] as const, ['escalateTo', escalateTo] as const]
  return lists.filter(([, names]) => names.length > 0)
}

function showChange({ field, before, after }: Change): string {
  return `    ${field}: ${showValue(before)} → ${showValue(after)}`
}

function showValue(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
