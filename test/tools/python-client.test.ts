import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeSecret, signBody, webhookBody } from '#src/channels/hooks/webhook.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { serviceOnly } from '../support/harness.ts'
import { signIn, withTrial } from '../support/people.ts'

/** The client in Python: its own tests, and the programs of its README against the service. */

const CLIENT = join(import.meta.dirname, '../../clients/python')
const run = promisify(execFile)
const env = {
  PATH: process.env['PATH'],
  PYTHONPATH: join(CLIENT, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
}

describe.skipIf(!hasPython())('the client in Python (needs python3, 3.11 or newer)', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'python-client-'))
    const readme = await readFile(join(CLIENT, 'README.md'), 'utf8')
    const programs = [...readme.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code]) => code ?? '')
    expect(programs.length).toBe(2)
    for (const [index, name] of ['watch.py', 'webhook.py'].entries()) {
      await writeFile(join(folder, name), programs[index] ?? '')
    }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('its own tests pass', async () => {
    const args = ['-W', 'error', '-m', 'unittest', 'discover', 'tests']
    const { stderr } = await run('python3', args, { cwd: CLIENT, env })
    expect(stderr).toMatch(/Ran \d+ tests[\s\S]*OK/)
  })

  test('every type can be resolved', async () => {
    const program = [
      'import typing',
      'from flare_watchdog import models',
      'types = [t for t in vars(models).values() if getattr(t, "__module__", "") == models.__name__]',
      'for one in types: typing.get_type_hints(one)',
      'print(len(types) > 100)',
    ].join('\n')
    const { stdout } = await run('python3', ['-c', program], { env })
    expect(stdout).toBe('True\n')
  })

  test('the first program of the README creates a watch', async () => {
    const service = await serviceOnly()
    const address = await service.server.listen({ port: 0, host: '127.0.0.1' })
    const alice = await signIn(service, 'alice')
    await withTrial(alice)
    const options = {
      cwd: folder,
      env: { ...env, WATCHDOG_URL: `${address}/api/x402`, WATCHDOG_TOKEN: alice.token },
    }
    const first = await run('python3', ['watch.py'], options)
    const second = await run('python3', ['watch.py'], options)
    await service.close()
    expect(first.stdout).toBe('watch 1 is active\n1 wallet-balance\n')
    expect(second.stdout).toBe('all slots are taken\n1 wallet-balance\n')
  })

  test('the second program of the README accepts a genuine webhook once and refuses a forged one', async () => {
    const secret = makeSecret()
    const port = await freePort()
    const program = spawn('python3', ['webhook.py'], {
      cwd: folder,
      env: { ...env, WEBHOOK_SECRET: secret, PORT: String(port) },
    })
    const output = text(program.stdout)
    await new Promise((resolve) => program.stdout.once('data', resolve))
    const body = webhookBody(envelopeOf({}))
    const timestamp = Math.floor(Date.now() / 1000)
    const post = async (key: string) => {
      const headers = {
        'x-watchdog-timestamp': String(timestamp),
        'x-watchdog-signature': signBody(key, timestamp, body),
      }
      const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
      return status
    }
    expect([await post(secret), await post(secret), await post(makeSecret())]).toEqual([
      204, 204, 400,
    ])
    program.kill()
    const { event, rendered } = JSON.parse(body)
    expect(await output).toBe(`ready\n${event}: ${rendered.title}\n`)
  })
})

function hasPython(): boolean {
  try {
    const check = 'import sys; sys.exit(sys.version_info < (3, 11))'
    execFileSync('python3', ['-c', check], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
