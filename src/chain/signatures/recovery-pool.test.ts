import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import secp256k1 from 'secp256k1'
import { afterAll, describe, expect, test } from 'vitest'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { runs } from '../../../test/support/runs.ts'
import { recoverKey, type SignedDigest } from './recover.ts'
import { createRecoveryPool } from './recovery-pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'recovery-pool-'))
afterAll(() => rmSync(folder, { recursive: true }))

function scriptOf(name: string, text: string): URL {
  const path = join(folder, `${name}.mjs`)
  writeFileSync(path, text)
  return pathToFileURL(path)
}

/** Valid signatures of different keys. */
function signatures(count: number): SignedDigest[] {
  return Array.from({ length: count }, (_, index) => {
    const digest = new Uint8Array(32).fill((index % 255) + 1)
    const key = new Uint8Array(32).fill((index % 99) + 1)
    const { signature, recid } = secp256k1.ecdsaSign(digest, key)
    return { signature, recovery: recid, digest }
  })
}

const here = (items: readonly SignedDigest[]) => items.map((item) => recoverKey(item))

const hexOf = (keys: readonly (Uint8Array | undefined)[]) =>
  keys.map((key) => key && Buffer.from(key).toString('hex'))

/** A logger that counts warnings. */
function counting() {
  let warnings = 0
  const warn: Logger['warn'] = () => {
    warnings += 1
  }
  return { log: { ...silentLogger, warn }, count: () => warnings }
}

const anything = fc.record({
  signature: fc.oneof(
    fc.uint8Array({ minLength: 64, maxLength: 64 }),
    fc.uint8Array({ maxLength: 70 }),
  ),
  recovery: fc.integer({ min: -1, max: 300 }),
  digest: fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.uint8Array({ maxLength: 40 }),
  ),
})

describe('threads that recover signatures', () => {
  test('find the same keys as the calling thread, for valid signatures and for garbage', async () => {
    const pool = createRecoveryPool({ log: silentLogger, hereMax: 0 })
    const valid = signatures(40)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(anything, fc.constantFrom(...valid)), { maxLength: 80 }),
        async (items) => {
          expect(await pool.recover(items)).toEqual(here(items))
          const each = await Promise.all(items.map((item) => pool.recoverOne(item)))
          expect(each).toEqual(here(items))
        },
      ),
      { numRuns: runs(40) },
    )
    await pool.close()
  })

  test('find the same keys with WebAssembly, within the memory of a thread', async () => {
    const { log, count } = counting()
    const moduleAt = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
    const script = scriptOf(
      'wasm',
      `import { parentPort } from 'node:worker_threads'
       import { loadWasm } from ${moduleAt('recover.ts')}
       import { recoverPacked } from ${moduleAt('recovery-batch.ts')}
       const wasm = await loadWasm()
       parentPort.on('message', (packed) => parentPort.postMessage(recoverPacked(packed, wasm)))`,
    )
    const pool = createRecoveryPool({ log, hereMax: 0, script })
    const items = signatures(600)
    expect(await pool.recover(items)).toEqual(here(items))
    expect(count()).toBe(0)
    await pool.close()
  })

  test('give each of many concurrent callers its own keys', async () => {
    const pool = createRecoveryPool({ log: silentLogger, hereMax: 0 })
    const all = signatures(300)
    const callers = Array.from({ length: 8 }, (_, index) => all.slice(index))
    const found = await Promise.all(callers.map((items) => pool.recover(items)))
    const keys = hexOf(here(all))
    expect(found.map(hexOf)).toEqual(callers.map((_, index) => keys.slice(index)))
    await pool.close()
  })

  test('lose no signature when they die', async () => {
    const { log, count } = counting()
    const script = scriptOf(
      'dying',
      `import { parentPort } from 'node:worker_threads'
       parentPort.on('message', () => { throw new Error('dead') })`,
    )
    const pool = createRecoveryPool({ log, hereMax: 0, script })
    const items = signatures(150)
    expect(await pool.recover(items)).toEqual(here(items))
    expect(count()).toBeGreaterThan(0)
    // No thread starts right after one has died.
    const before = count()
    expect(await pool.recover(items)).toEqual(here(items))
    expect(count()).toBe(before)
    await pool.close()
  })

  test('lose no signature when they end without an error, or cannot start', async () => {
    const items = signatures(70)
    for (const script of [
      scriptOf('ending', 'process.exit(0)'),
      pathToFileURL(join(folder, 'missing.mjs')),
    ]) {
      const { log, count } = counting()
      const pool = createRecoveryPool({ log, hereMax: 0, script })
      expect(await pool.recover(items)).toEqual(here(items))
      expect(count()).toBeGreaterThan(0)
      await pool.close()
    }
  })

  test('lose no signature when they never answer', async () => {
    const { log, count } = counting()
    const script = scriptOf(
      'silent',
      `import { parentPort } from 'node:worker_threads'
       parentPort.on('message', () => {})`,
    )
    const pool = createRecoveryPool({ log, hereMax: 0, script, answerMs: 50 })
    const items = signatures(70)
    expect(await pool.recover(items)).toEqual(here(items))
    expect(count()).toBeGreaterThan(0)
    await pool.close()
  })

  test('are replaced after a pause', async () => {
    const { log } = counting()
    const flag = join(folder, 'died')
    const script = scriptOf(
      'once',
      `import { existsSync, writeFileSync } from 'node:fs'
       import { parentPort } from 'node:worker_threads'
       const flag = ${JSON.stringify(flag)}
       parentPort.on('message', (packed) => {
         if (!existsSync(flag)) { writeFileSync(flag, ''); throw new Error('dead') }
         parentPort.postMessage(new Uint8Array((packed.length / 97) * 65).fill(4))
       })`,
    )
    const pool = createRecoveryPool({ log, hereMax: 0, script, threadsMax: 1, restartMs: 0 })
    const items = signatures(1)
    expect(await pool.recover(items)).toEqual(here(items))
    // The second thread's answer is told by its content.
    expect(await pool.recover(items)).toEqual([new Uint8Array(65).fill(4)])
    await pool.close()
  })

  test('do not count as dead while the calling thread is blocked', async () => {
    const { log, count } = counting()
    const flag = join(folder, 'answered')
    const script = scriptOf(
      'answering',
      `import { writeFileSync } from 'node:fs'
       import { parentPort } from 'node:worker_threads'
       parentPort.on('message', (packed) => {
         parentPort.postMessage(new Uint8Array((packed.length / 97) * 65).fill(4))
         writeFileSync(${JSON.stringify(flag)}, '')
       })`,
    )
    const answerMs = 50
    const pool = createRecoveryPool({ log, hereMax: 0, script, answerMs })
    const found = pool.recover(signatures(1))
    const startedAt = performance.now()
    while (!existsSync(flag) || performance.now() < startedAt + 2 * answerMs);
    expect(await found).toEqual([new Uint8Array(65).fill(4)])
    expect(count()).toBe(0)
    await pool.close()
  })

  test('are not needed for many signatures: the calling thread recovers them, and the event loop goes on', async () => {
    const pool = createRecoveryPool({ log: silentLogger, threadsMax: 0 })
    const items = signatures(320)
    let turns = 0
    let isOver = false
    const count = async () => {
      for (; !isOver; turns += 1) await turn()
    }
    const counted = count()
    await pool.recover(items)
    isOver = true
    await counted
    expect(turns).toBeGreaterThanOrEqual(10)
    await pool.close()
  })

  test('start only when there is much work, and end when there is none', async () => {
    const script = scriptOf(
      'marking',
      `import { parentPort } from 'node:worker_threads'
       parentPort.on('message', (packed) => {
         parentPort.postMessage(new Uint8Array((packed.length / 97) * 65).fill(4))
       })`,
    )
    const often = { hereMax: 2, hereMs: Number.POSITIVE_INFINITY, idleMs: 20, threadsMax: 1 }
    const pool = createRecoveryPool({ log: silentLogger, script, ...often })
    const items = signatures(1)
    const mark = [new Uint8Array(65).fill(4)]
    expect(await pool.recover(items)).toEqual(here(items))
    expect(await pool.recover(items)).toEqual(here(items))
    expect(await pool.recover(items)).toEqual(mark)
    // A thread that has ended is no death: the next one starts at once.
    await pause(60)
    expect(await pool.recover(items)).toEqual(mark)
    await pool.close()
  })

  test('end on close, and signatures that wait or come later are still recovered', async () => {
    const { log, count } = counting()
    const pool = createRecoveryPool({ log, hereMax: 0 })
    const items = signatures(600)
    const waiting = pool.recover(items)
    await pool.close()
    expect(await waiting).toEqual(here(items))
    expect(await pool.recover(items.slice(0, 40))).toEqual(here(items.slice(0, 40)))
    expect(count()).toBe(0)
  })

  test('are not needed: the calling thread recovers all if there are none', async () => {
    const pool = createRecoveryPool({ log: silentLogger, threadsMax: 0 })
    const items = signatures(70)
    expect(await pool.recover(items)).toEqual(here(items))
    expect(await pool.recover([])).toEqual([])
    await pool.close()
  })
})
