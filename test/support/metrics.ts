/** Values of an answer of `/metrics`. */

/** Labels of every series of a process, after its own. */
const OF_EVERY_SERIES = /,?version="[^"]*",chain="[^"]*"\}$/

/**
 * The value of each series of the service by its name and its own labels, without those that every series has, such as
 * `watchdog_deliveries_due{channel="email"}`.
 */
export function seriesOf(payload: string): ReadonlyMap<string, number> {
  return new Map(
    payload
      .split('\n')
      .filter((line) => line.startsWith('watchdog_'))
      .map((line): [string, number] => {
        const at = line.lastIndexOf(' ')
        const name = line.slice(0, at).replace(OF_EVERY_SERIES, '}').replace(/\{\}$/, '')
        return [name, Number(line.slice(at + 1))]
      }),
  )
}
