/** The script of examples/ that checks evidence, run as people run it. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../examples/verify-evidence.ts', import.meta.url))

/** What the script said, and its exit code: 0 confirmed, 1 refuted, 2 not checked. */
export interface Verification {
  readonly code: number
  readonly said: string
}

/** Runs the script on evidence with these endpoints. */
export async function verify(
  evidence: unknown,
  urls: readonly string[],
  registry: string,
): Promise<Verification> {
  const folder = await mkdtemp(join(tmpdir(), 'evidence-'))
  try {
    const file = join(folder, 'evidence.json')
    await writeFile(file, JSON.stringify(evidence))
    const { promise, resolve } = Promise.withResolvers<Verification>()
    const args = [SCRIPT, file, ...urls, '--registry', registry]
    execFile(process.execPath, args, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: out + err }),
    )
    return await promise
  } finally {
    await rm(folder, { recursive: true })
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
