/** A refusal of a command of the operator, in words for the operator. Nothing was changed. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OperatorError'
  }
}
