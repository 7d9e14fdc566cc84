import { readCommand } from './arguments.ts'
import {
  allowToken,
  deployRouter,
  openRouter,
  pauseRouter,
  RouterError,
  readStatus,
} from './router.ts'

/** `npm run router -- status|deploy|allow|pause`: the contract that takes payments in tokens. Without --yes nothing is sent. */
const HELP = `npm run router -- status
npm run router -- deploy --treasury <address> [--owner <address>]
npm run router -- allow <token> [off]
npm run router -- pause on|off

It reads CHAIN_ID, the first of FLARE_RPC_URLS and PAYMENT_ROUTER, and for what it sends the private key of the owner in
ROUTER_OWNER_KEY. Without --yes it only tells what it would do.
`

const args = process.argv.slice(2)
try {
  if (args.length === 0 || args.includes('--help')) process.stdout.write(HELP)
  else for (const line of await run()) process.stdout.write(`${line}\n`)
} catch (error) {
  if (!(error instanceof RouterError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function run(): Promise<readonly string[]> {
  const command = readCommand(args)
  const router = await openRouter(process.env)
  switch (command.name) {
    case 'status':
      return await readStatus(router)
    case 'deploy':
      return await deployRouter(router, command)
    case 'allow':
      return await allowToken(router, command)
    case 'pause':
      return await pauseRouter(router, command)
    default:
      return command satisfies never
  }
}
