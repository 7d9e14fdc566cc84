/** The script of examples/ that checks evidence. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkWith, type EvidenceVerdict } from '../../examples/evidence/check.ts'
import { readerOf } from '../../examples/evidence/published.ts'
import { createRpc, type Rpc } from '../../examples/evidence/rpc.ts'
import type { RoundWorld } from '../watches/rounds.ts'

const SCRIPT = fileURLToPath(new URL('../../examples/verify-evidence.ts', import.meta.url))

/** What evidence is checked with beside the endpoints, as the script's arguments give it. */
export interface Beside {
  /** A file or a URL. */
  readonly published?: string | undefined
  /** In place of `published`. */
  readonly read?: (epoch: number) => Promise<unknown>
  readonly pChain?: string | undefined
  /** Body of the alert's webhook. */
  readonly message?: unknown
}

/**
 * Checks evidence as the script does after it has read its file.
 *
 * @param endpoints one that is asked as two are, their addresses, or a client that several checks share
 */
export function verify(
  evidence: unknown,
  endpoints: string | readonly string[] | Rpc,
  registry: string,
  { published, read = readerOf(published), pChain, message }: Beside = {},
): Promise<EvidenceVerdict> {
  const urls = typeof endpoints === 'string' ? twice(endpoints) : endpoints
  const rpc = 'block' in urls ? urls : createRpc(urls)
  return checkWith(JSON.stringify(evidence), rpc, {
    registry,
    published: read,
    pChain,
    message: message === undefined ? undefined : JSON.stringify(message),
  })
}

/** Runs the script on a file in a process, as people do. */
export async function runScript(
  json: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'evidence-'))
  try {
    const file = join(folder, 'evidence.json')
    await writeFile(file, json)
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof runScript>>>()
    execFile(process.execPath, [SCRIPT, file, ...args], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
    return await promise
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** An endpoint under two names of this machine, as if two operators agreed. */
export function twice(url: string): readonly string[] {
  return [url, url.replace('127.0.0.1', 'localhost')]
}

/** Evidence that is dated to another block. */
export async function datedTo<E extends { claim: Record<string, unknown> }>(
  evidence: E,
  { client }: Pick<RoundWorld['devnet'], 'client'>,
  number: number,
): Promise<E> {
  const { hash, timestamp } = await client.getBlock({ blockNumber: BigInt(number) })
  const at = new Date(Number(timestamp) * 1000).toISOString()
  const { block, ...claim } = structuredClone(evidence.claim)
  const dated = block === undefined ? claim : { ...claim, block: number }
  return {
    ...evidence,
    firedAt: at,
    claim: dated,
    blocks: { first: null, last: { number, hash, at } },
  }
}

/** An answer of JSON-RPC. */
interface Answer {
  result?: unknown
  error?: { readonly code: number; readonly message: string }
}

/**
 * An endpoint in front of another that changes its answers.
 *
 * @param change changes an answer in place
 */
export async function changedEndpoint(
  url: string,
  change: (method: string, params: readonly unknown[], answer: Answer) => void,
) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const { method, params } = JSON.parse(body)
    const headers = { 'content-type': 'application/json' }
    const forwarded = await fetch(url, { method: 'POST', headers, body })
    const answer = (await forwarded.json()) as Answer
    change(method, params, answer)
    response.writeHead(200, headers).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
