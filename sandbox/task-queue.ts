/** Creates a function that runs tasks one after another; one that fails does not stop the next. */
export function createTaskQueue(): <T>(run: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve()
  return (run) => {
    const mine = turn.then(run)
    turn = mine.catch(() => undefined)
    return mine
  }
}
