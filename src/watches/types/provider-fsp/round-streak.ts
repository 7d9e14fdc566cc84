import type { Parameter } from '../../define.ts'

/** Bad voting rounds in a row before an alert. @see specification, "Parameters" */
export const ROUNDS: Parameter = {
  key: 'rounds',
  type: 'integer',
  default: 2,
  min: 1,
  max: 20,
  step: 1,
}
