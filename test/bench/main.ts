import { benchAuth } from './auth.ts'
import { benchBacklog } from './backlog.ts'
import { benchBlockToMessage } from './block-to-message.ts'
import { benchCatchup } from './catchup.ts'
import { benchDelivery } from './delivery.ts'
import { benchEndpoint, isEndpointArgument } from './endpoint.ts'
import { ENDPOINT_KINDS } from './endpoint-kinds.ts'
import { benchFanout } from './fanout.ts'
import { benchFsp } from './fsp.ts'
import { benchMetering } from './metering.ts'
import { benchObserve } from './observe.ts'
import { benchPages } from './pages.ts'
import { benchPress } from './press.ts'
import { type Measurement, report } from './report.ts'
import { benchRest } from './rest.ts'
import { benchRows } from './rows.ts'
import { benchSandbox } from './sandbox.ts'
import { benchScale } from './scale.ts'
import { benchStart } from './start.ts'

/**
 * Every benchmark by name: `npm run bench -- <name>`; all of them without a name. `endpoint` takes kinds of endpoints
 * and `--minutes=4` besides.
 */
const BENCHES = {
  rest: benchRest,
  pages: benchPages,
  auth: benchAuth,
  metering: benchMetering,
  press: benchPress,
  observe: benchObserve,
  'block-to-message': benchBlockToMessage,
  fanout: benchFanout,
  delivery: benchDelivery,
  backlog: benchBacklog,
  start: benchStart,
  fsp: benchFsp,
  catchup: benchCatchup,
  rows: benchRows,
  scale: benchScale,
  sandbox: benchSandbox,
  endpoint: benchEndpoint,
}

/** Prints measurements; a benchmark of several parts calls it as each part ends. */
function show(measurements: readonly Measurement[]): void {
  process.stdout.write(`${report(measurements)}\n`)
}

const args = process.argv.slice(2)
const names = args.filter((arg) => arg in BENCHES)
const more = args.filter((arg) => !(arg in BENCHES))
const unknown = more.filter((arg) => !names.includes('endpoint') || !isEndpointArgument(arg))
if (unknown.length > 0) {
  const [what, known] = names.includes('endpoint')
    ? ['kind of endpoint', Object.keys(ENDPOINT_KINDS)]
    : ['benchmark', Object.keys(BENCHES)]
  process.stderr.write(`no such ${what}: ${unknown.join(', ')}. There are: ${known.join(', ')}\n`)
  process.exitCode = 1
} else {
  for (const [name, run] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue
    show(await run(show, more))
  }
}
