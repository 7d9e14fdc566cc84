/** Values of an answer of `/metrics`. */

/** The labels of every series of a process. */
const OF_EVERY_SERIES = /(?<=[{,])(?:version|chain)="[^"]*",?/g

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
        const name = line.slice(0, at).replaceAll(OF_EVERY_SERIES, '').replace(/,\}$/, '}')
        return [name.replace(/\{\}$/, ''), Number(line.slice(at + 1))]
      }),
  )
}
