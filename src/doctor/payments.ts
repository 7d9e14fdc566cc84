/** What the doctor asks of the contracts through which customers pay. */
import { encodeFunctionData, erc20Abi } from 'viem'
import { ROUTER_ABI, ROUTER_OWNER_ABI } from '#src/chain/contracts.ts'
import type { Config } from '#src/config.ts'
import type { Address } from '#src/kernel/units.ts'
import { endpointsOf, numberOf } from './endpoints.ts'
import { type Finding, ok, warn, wrong } from './finding.ts'
import { type AskedEndpoint, ask } from './json-rpc.ts'

const ABI = [...ROUTER_ABI, ...ROUTER_OWNER_ABI]
const PAUSED = encodeFunctionData({ abi: ABI, functionName: 'paused' })
const TREASURY = encodeFunctionData({ abi: ABI, functionName: 'treasury' })
const VERSION = encodeFunctionData({ abi: ABI, functionName: 'version' })
const DECIMALS = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' })

/** Asks the first endpoint. */
export async function examinePayments({
  billing,
  chain,
}: Pick<Config, 'billing' | 'chain'>): Promise<readonly Finding[]> {
  const { router, tokens } = billing.payments
  if (!billing.enabled || router === undefined) return []
  const [endpoint] = endpointsOf(chain)
  if (endpoint === undefined) return []
  const call = (to: Address, data: string) => callOf(endpoint, to, data)
  const paused = await call(router, PAUSED)
  const treasury = await call(router, TREASURY)
  if (paused === undefined || treasury === undefined) {
    return [
      wrong(
        'payment router',
        `there is no router at ${router}, or the endpoint does not answer`,
        'npm run router -- status, or deploy one',
      ),
    ]
  }
  const state = isTrue(paused)
    ? wrong(
        'payment router',
        'is paused: nobody can pay with tokens',
        'npm run router -- pause off',
      )
    : ok('payment router', `takes payments for 0x${treasury.slice(-40)}`)
  const version = await call(router, VERSION)
  const old =
    version === undefined
      ? [
          warn(
            'payment router',
            'is an older one, which takes no coins from contract wallets',
            'deploy another one when it is convenient',
          ),
        ]
      : []
  const each = Object.entries(tokens).map(async ([name, token]) =>
    token === undefined ? [] : await examineToken(call, router, name, token),
  )
  return [state, ...old, ...(await Promise.all(each)).flat()]
}

async function examineToken(
  call: (to: Address, data: string) => Promise<string | undefined>,
  router: Address,
  name: string,
  token: Address,
): Promise<readonly Finding[]> {
  const subject = `token ${name}`
  if ((await call(token, DECIMALS)) === undefined) {
    return [wrong(subject, `there is no token at ${token}`, 'correct its address')]
  }
  const data = encodeFunctionData({ abi: ABI, functionName: 'allowed', args: [token] })
  const allowed = await call(router, data)
  if (allowed !== undefined && isTrue(allowed)) return [ok(subject, 'is accepted by the router')]
  return [
    wrong(
      subject,
      'is not accepted by the router, so nobody can pay with it',
      `npm run router -- allow ${token}`,
    ),
  ]
}

/** One word of a call's result; undefined for anything else. */
async function callOf(
  endpoint: AskedEndpoint,
  to: Address,
  data: string,
): Promise<string | undefined> {
  const asked = await ask(endpoint, 'eth_call', [{ to, data }, 'latest'])
  const isWord =
    asked.ok && typeof asked.result === 'string' && /^0x[0-9a-f]{64}$/i.test(asked.result)
  return isWord ? String(asked.result) : undefined
}

function isTrue(word: string): boolean {
  return numberOf(`0x${word.slice(-2)}`) === 1
}
