import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { findPort } from '#sandbox/world/ports.ts'
import { runs } from '../support/runs.ts'
import { type SandboxProcess, startSandboxProcess } from '../support/sandbox-process.ts'

/** Time that a sandbox takes to start, at least. */
const STARTS_MS = 900

const started: SandboxProcess[] = []
const servers: Server[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((world) => world.discard()))
  for (const server of servers.splice(0)) server.close()
})

async function start(...args: Parameters<typeof startSandboxProcess>): Promise<SandboxProcess> {
  const sandbox = await startSandboxProcess(...args)
  started.push(sandbox)
  return sandbox
}

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function expectNothingLeft(sandbox: SandboxProcess): Promise<void> {
  expect(await sandbox.processes()).toEqual([])
  expect(await sandbox.files()).toEqual([])
}

/** Each part runs and shows its page, without a warning. */
async function expectAllParts(sandbox: SandboxProcess): Promise<void> {
  const placeOf = (name: string) =>
    new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(sandbox.output())?.[1] ?? ''

  const pages = {
    'Start here': 'Everything is ready. Try this:',
    Chat: 'aria-current="page">Chat',
    Inbox: '<h1>Inbox</h1>',
    Receiver: '<h1>Receiver</h1>',
    Hooks: '<h1>Chats and pagers</h1>',
    Happen: '<h1>Happen</h1>',
    Watchdog: 'Know about a problem before it costs you money',
    Health: '"status":"ok"',
  }
  for (const [name, content] of Object.entries(pages)) {
    const response = await fetch(placeOf(name))
    expect({ name, status: response.status }).toEqual({ name, status: 200 })
    expect(await response.text()).toContain(content)
  }
  const pricing = await fetch(`${placeOf('REST')}/pricing`)
  expect(await pricing.json()).toMatchObject({ chainId: 14 })
  const programs = (await sandbox.processes()).join('\n')
  expect(programs).toContain('anvil')
  expect(programs).toContain('postgres')

  expect(sandbox.output()).not.toContain(' warn ')
}

describe('sandbox', { timeout: 60_000 }, () => {
  it('that is killed ends with its processes; the next one removes its files, starts all parts, and leaves nothing', async () => {
    const killed = await start(['--port', '0'])
    await killed.printed(/Ready after [\d.]+ s/)
    expect(await killed.processes()).not.toEqual([])
    killed.signal('SIGKILL')
    await killed.exit()
    await expect.poll(() => killed.processes(), { timeout: 20_000 }).toEqual([])
    expect(await killed.files()).not.toEqual([])
    const sandbox = await start(['--port', '0'], { TMPDIR: killed.folder })
    await sandbox.printed(/Ready after [\d.]+ s/)
    await sandbox.printed('Stop with Ctrl-C')
    await expectAllParts(sandbox)

    sandbox.pressCtrlC()
    await sandbox.printed('Stopping')
    sandbox.pressCtrlC()
    sandbox.signal('SIGTERM')
    expect(await sandbox.exit()).toEqual({ code: 0, signal: null })
    expect(sandbox.output()).toContain('Stopped. Nothing is left.')
    await expectNothingLeft(sandbox)
    await expectNothingLeft(killed)
  })

  it('leaves nothing when it is ended at any moment of its start, by SIGTERM or Ctrl-C', async () => {
    for (let round = 0; round < runs(1); round += 1) {
      const sandbox = await start(['--port', '0'])
      await sandbox.printed('Starting')
      await wait(randomInt(STARTS_MS))
      if (randomInt(2) === 0) sandbox.pressCtrlC()
      else sandbox.signal('SIGTERM')
      expect(await sandbox.exit()).toEqual({ code: 0, signal: null })
      expect(sandbox.output()).toContain('Stopped. Nothing is left.')
      await expectNothingLeft(sandbox)
    }
  })

  it('leaves nothing behind when its terminal is closed', async () => {
    const sandbox = await start(['--port', '0'])
    await sandbox.printed('Stop with Ctrl-C')
    sandbox.closeOutput()
    sandbox.signal('SIGHUP')
    expect(await sandbox.exit()).toEqual({ code: 0, signal: null })
    await expectNothingLeft(sandbox)
  })

  it('reports why it does not start, and leaves nothing behind', async () => {
    const sandbox = await start(['--port', '0'], { ANVIL_PATH: '/nowhere/anvil' })
    expect(await sandbox.exit()).toEqual({ code: 1, signal: null })
    expect(sandbox.output()).toContain('The sandbox does not start: anvil ended')
    await expectNothingLeft(sandbox)
  })

  it('does not start on a port other than the requested one', async () => {
    const sandbox = await start(['--port', `${await takenPort()}`])
    expect(await sandbox.exit()).toEqual({ code: 1, signal: null })
    expect(sandbox.output()).toContain('EADDRINUSE')
    await expectNothingLeft(sandbox)
  })

  it('uses a free port if none was requested', async () => {
    const taken = await takenPort()
    const found = await findPort(taken)
    expect(found).not.toBe(taken)
    // Below the ephemeral ports, one of which another process could get before it is used.
    expect(found).toBeLessThan(32_768)
    expect(await findPort(found)).toBe(found)
  })

  it.each([[['fly']], [['--port', 'x']]])('prints its usage when called with %j', async (args) => {
    const sandbox = await start(args)
    expect(await sandbox.exit()).toEqual({ code: 2, signal: null })
    expect(sandbox.output()).toContain('Usage:')
  })
})

describe('tour', { timeout: 90_000 }, () => {
  it('runs from sign-in to a deleted watch, every step succeeds, and nothing is left behind', async () => {
    const sandbox = await start(['tour'])
    const { code } = await sandbox.exit()
    expect(sandbox.output()).toMatch(/^(?: ✓ .*\n){28}\nAll 28 steps held, after [\d.]+ s\.\n$/)
    expect(code).toBe(0)
    await expectNothingLeft(sandbox)
  })

  it('ends with a failure, and leaves nothing behind, when it is aborted', async () => {
    const sandbox = await start(['tour'])
    await sandbox.printed('A world starts')
    sandbox.signal('SIGINT')
    expect(await sandbox.exit()).toEqual({ code: 1, signal: null })
    expect(sandbox.output()).toContain('✗')
    await expectNothingLeft(sandbox)
  })
})
