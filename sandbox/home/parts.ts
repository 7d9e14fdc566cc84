import { once } from 'node:events'
import { connect } from 'node:net'
import { createPublicClient, http } from 'viem'
import type { WorldParts } from '../world/parts.ts'

/** One running part, as the page shows it. */
export interface PartStatus {
  readonly name: string
  readonly address: string
  /** Its page in a browser. */
  readonly href?: string
  readonly works: boolean
  readonly detail?: string
}

const CHECK_TIMEOUT_MS = 1000

/** Checks every part of a world now. */
export async function checkParts(world: WorldParts): Promise<readonly PartStatus[]> {
  const { service, database, rpc, xrpl, telegram, inbox, receiver } = world
  const [isReady, tip, isXrplUp, isTelegramUp, isInboxUp, isReceiverUp] = await Promise.all([
    answers(`${service.internalUrl}/readyz`),
    tipOf(rpc.url),
    listens(xrpl.url),
    listens(telegram.url),
    listens(inbox.url),
    listens(receiver.url()),
  ])
  return [
    { name: 'Watchdog', address: service.publicUrl, href: service.publicUrl, works: isReady },
    // The service is ready exactly while its database answers.
    { name: 'PostgreSQL', address: database, works: isReady },
    {
      name: 'Chain 14',
      address: rpc.url,
      works: tip !== undefined,
      ...(tip === undefined ? {} : { detail: `block ${tip.toLocaleString('en')}` }),
    },
    { name: 'XRP Ledger', address: xrpl.url, works: isXrplUp },
    {
      name: 'Telegram',
      address: telegram.url,
      works: isTelegramUp,
      detail: `@${telegram.bot.username}`,
    },
    { name: 'Mail', address: inbox.url, works: isInboxUp },
    { name: 'Receiver', address: receiver.url(), works: isReceiverUp },
  ]
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}

/** Block number as the service sees it. */
async function tipOf(url: string): Promise<bigint | undefined> {
  const transport = http(url, { retryCount: 0, timeout: CHECK_TIMEOUT_MS })
  return createPublicClient({ transport, cacheTime: 0 })
    .getBlockNumber()
    .catch(() => undefined)
}

async function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), timeout: CHECK_TIMEOUT_MS })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
