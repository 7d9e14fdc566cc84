/** What the doctor asks about payments that calls carry: the token, and the account that sends them or the facilitator. */
import { domainSeparator, formatUnits } from 'viem'
import { USDT0 } from '#src/billing/direct/model.ts'
import { readText } from '#src/chain/bounded-answer.ts'
import type { Config } from '#src/config.ts'
import { endpointsOf } from './endpoints.ts'
import { type Finding, ok, warn, wrong } from './finding.ts'
import { type AskedEndpoint, ask } from './json-rpc.ts'

/** Selector of `DOMAIN_SEPARATOR()` (EIP-2612). */
const DOMAIN_SEPARATOR = '0x3644e515'
/** Gas of one transfer, and the number of transfers that the account should be able to pay. */
const GAS_OF_TRANSFER = 100_000n
const TRANSFERS_LEAST = 200n
const COIN_DECIMALS = 18
const FACILITATOR_MS = 8000
const FACILITATOR_BYTES_MAX = 64 * 1024

/** Asks the first endpoint, and the facilitator if there is one. */
export async function examineDirectPayments(
  config: Pick<Config, 'billing' | 'chain' | 'x402'>,
): Promise<readonly Finding[]> {
  const { billing, chain, x402 } = config
  const { settlementKey, facilitatorUrl } = x402
  const [endpoint] = endpointsOf(chain)
  const isOff = settlementKey === undefined && facilitatorUrl === undefined
  if (!billing.enabled || isOff || endpoint === undefined) return []
  return [
    await examineToken(endpoint),
    ...(settlementKey === undefined ? [] : [await examineGas(endpoint, settlementKey)]),
    ...(facilitatorUrl === undefined ? [] : [await examineFacilitator(facilitatorUrl)]),
  ]
}

/** Signatures name the token's domain: with another one the token would refuse every payment. */
async function examineToken(endpoint: AskedEndpoint): Promise<Finding> {
  const subject = 'x402 token'
  const { address, name, version, chainId } = USDT0
  const expected = domainSeparator({
    domain: { name, version, chainId, verifyingContract: address },
  })
  const asked = await ask(endpoint, 'eth_call', [{ to: address, data: DOMAIN_SEPARATOR }, 'latest'])
  if (!asked.ok) return warn(subject, `cannot be asked: ${asked.why}`, 'ask again later')
  if (asked.result === expected) return ok(subject, `${name} at ${address}`)
  return wrong(
    subject,
    `${address} has another EIP-712 domain than ${name}, so it refuses every payment`,
    'unset X402_SETTLEMENT_KEY and X402_FACILITATOR_URL',
  )
}

async function examineGas(endpoint: AskedEndpoint, key: `0x${string}`): Promise<Finding> {
  const subject = 'x402 settlement account'
  const { privateKeyToAccount } = await import('viem/accounts')
  const { address } = privateKeyToAccount(key)
  const [balance, price] = await Promise.all([
    ask(endpoint, 'eth_getBalance', [address, 'latest']),
    ask(endpoint, 'eth_gasPrice', []),
  ])
  const [wei, perGas] = [quantityOf(balance), quantityOf(price)]
  if (wei === undefined || perGas === undefined) {
    return warn(subject, `the balance of ${address} cannot be read`, 'ask again later')
  }
  const transfers = perGas === 0n ? TRANSFERS_LEAST : wei / (perGas * GAS_OF_TRANSFER)
  const holds = `${address} holds ${formatUnits(wei, COIN_DECIMALS)} FLR, enough for ${transfers} payments`
  if (transfers === 0n)
    return wrong(subject, `${holds}: no call can be paid`, `send FLR to ${address}`)
  if (transfers < TRANSFERS_LEAST) return warn(subject, holds, `send FLR to ${address}`)
  return ok(subject, holds)
}

function quantityOf(asked: Awaited<ReturnType<typeof ask>>): bigint | undefined {
  const isQuantity =
    asked.ok && typeof asked.result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(asked.result)
  return isQuantity ? BigInt(String(asked.result)) : undefined
}

/** @see x402, `specs/x402-specification-v2.md`, `GET /supported` */
async function examineFacilitator(url: string): Promise<Finding> {
  const subject = 'x402 facilitator'
  const host = new URL(url).host
  try {
    const response = await fetch(new URL('supported', url.endsWith('/') ? url : `${url}/`), {
      redirect: 'manual',
      signal: AbortSignal.timeout(FACILITATOR_MS),
    })
    const answer = await readText(response, FACILITATOR_BYTES_MAX)
    // With its quotes, because ids of other chains begin alike.
    if (response.ok && answer.includes(`"eip155:${USDT0.chainId}"`)) {
      return ok(subject, `${host} serves eip155:${USDT0.chainId}`)
    }
    return wrong(subject, `${host} does not serve eip155:${USDT0.chainId}`, 'choose another one')
  } catch {
    return wrong(subject, `${host} does not answer`, 'correct X402_FACILITATOR_URL')
  }
}
