import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { recoveryCode, type SignedDigest } from './recover.ts'
import { packForRecovery, recoverPacked, unpackKeys } from './recovery-batch.ts'

/** Recovers the public keys of signers in worker threads, so that the event loop stays free. */
export interface RecoveryPool {
  /** Recovers the public keys that signed, in order; undefined for an invalid signature. Never rejects. */
  recover(items: readonly SignedDigest[]): Promise<readonly (Uint8Array | undefined)[]>
  /**
   * Recovers the key of one signature. All signatures of one turn of the event loop are recovered together.
   */
  recoverOne(item: SignedDigest): Promise<Uint8Array | undefined>
  /** Ends the threads. Work that is still waiting is done in this thread. */
  close(): Promise<void>
}

/** Two threads keep up with every round of Flare; more would take cores from the database. */
const THREADS_MAX = 2
/** Number of signatures that a thread gets at once: about two milliseconds of work. */
const PER_BATCH = 32
/** Maximum number of batches that wait for a thread; further batches are recovered in this thread. */
const WAITING_MAX = 64
/** Time after which a thread that does not answer counts as dead. */
const ANSWER_MS = 10_000
/** Memory limits of a thread, which holds little more than the batch that it works on. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 }
/**
 * Maximum number of batches per `HERE_MS` that this thread recovers itself. The batches of a round, or of a
 * few sign-ins, are not worth the memory of threads. Threads start when the service catches up after a long
 * pause.
 */
const HERE_MAX = 12
const HERE_MS = 5000
/** Time without work after which a thread ends. */
const IDLE_MS = 30_000
/** Pause before a thread takes the place of one that died. */
const RESTART_MS = 10_000

type Keys = Uint8Array
interface Task {
  readonly packed: Uint8Array<ArrayBuffer>
  readonly done: (keys: Keys) => void
}
interface Thread {
  readonly worker: Worker
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
}

/**
 * Creates a pool without threads; threads start when there is much work, end when there is none, and do not
 * keep the process alive. If a thread dies, its batch is recovered in this thread. Long because threads and
 * waiting work share state.
 */
export function createRecoveryPool({
  log,
  threadsMax = Math.min(THREADS_MAX, availableParallelism()),
  script = new URL('./recovery-worker.ts', import.meta.url),
  answerMs = ANSWER_MS,
  restartMs = RESTART_MS,
  hereMax = HERE_MAX,
  hereMs = HERE_MS,
  idleMs = IDLE_MS,
}: {
  readonly log: Logger
  readonly threadsMax?: number
  readonly script?: URL
  readonly answerMs?: number
  readonly restartMs?: number
  readonly hereMax?: number
  readonly hereMs?: number
  readonly idleMs?: number
}): RecoveryPool {
  const threads = new Set<Thread>()
  const waiting: Task[] = []
  const gathered: { readonly item: SignedDigest; done(key: Keys | undefined): void }[] = []
  /** Settles when this thread has recovered its last batch. */
  let last = Promise.resolve()
  let counted = { since: performance.now(), batches: 0 }
  let restartAt = 0
  let isClosed = false

  /** Counts a batch. @returns whether threads are worth their memory, or already run */
  function isMuch(): boolean {
    const now = performance.now()
    if (now - counted.since > hereMs) counted = { since: now, batches: 0 }
    counted.batches += 1
    return threads.size > 0 || counted.batches > hereMax
  }

  function start(): Thread | undefined {
    if (threads.size >= threadsMax || performance.now() < restartAt) return undefined
    const worker = new Worker(script, { execArgv: [], env: {}, resourceLimits: MEMORY })
    const thread: Thread = { worker, task: undefined, timer: undefined }
    threads.add(thread)
    worker.unref()
    worker.on('message', (keys: Keys) => {
      const task = release(thread)
      task?.done(keys)
      next(thread)
    })
    worker.on('error', (error) => lose(thread, error))
    worker.on('exit', () => lose(thread, new Error('a thread has ended')))
    return thread
  }

  function release(thread: Thread): Task | undefined {
    const { task } = thread
    clearTimeout(thread.timer)
    thread.task = undefined
    thread.worker.unref()
    thread.timer = setTimeout(() => {
      threads.delete(thread)
      void thread.worker.terminate()
    }, idleMs).unref()
    return task
  }

  function lose(thread: Thread, error: unknown): void {
    if (!threads.delete(thread)) return
    const task = release(thread)
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    if (!isClosed) {
      restartAt = performance.now() + restartMs
      log.warn({ problem: loggableError(error) }, 'a thread that recovers signers has died')
    }
    const left = threads.size === 0 ? waiting.splice(0) : []
    for (const lost of [...(task ? [task] : []), ...left]) here(lost)
  }

  function next(thread: Thread): void {
    const task = waiting.shift()
    if (task === undefined) return
    thread.task = task
    thread.worker.ref()
    clearTimeout(thread.timer)
    thread.timer = setTimeout(() => {
      // If this thread was blocked, the answer arrives in the same turn of the event loop.
      setImmediate(() => {
        if (thread.task === task) lose(thread, new Error('a thread does not answer'))
      })
    }, answerMs)
    // The memory is copied, not transferred: if the thread dies, the batch is recovered here.
    thread.worker.postMessage(task.packed)
  }

  /** Recovers a batch in this thread, one batch in each turn of the event loop. */
  function here({ packed, done }: Task): void {
    last = last.then(async () => {
      await nextTurn()
      done(recoverPacked(packed))
    })
  }

  function add(packed: Task['packed']): Promise<Keys> {
    const { promise, resolve } = Promise.withResolvers<Keys>()
    const task = { packed, done: resolve }
    const idle = isMuch()
      ? ([...threads].find((thread) => thread.task === undefined) ?? start())
      : undefined
    if (isClosed || threads.size === 0 || waiting.length >= WAITING_MAX) here(task)
    else {
      waiting.push(task)
      if (idle !== undefined) next(idle)
    }
    return promise
  }

  async function recover(items: readonly SignedDigest[]) {
    const batches: Promise<Keys>[] = []
    for (let from = 0; from < items.length; from += PER_BATCH) {
      batches.push(add(packForRecovery(items.slice(from, from + PER_BATCH))))
    }
    return (await Promise.all(batches)).flatMap(unpackKeys)
  }

  async function recoverGathered(): Promise<void> {
    const taken = gathered.splice(0)
    const keys = await recover(taken.map(({ item }) => item))
    for (const [index, { done }] of taken.entries()) done(keys[index])
  }

  return {
    recover,
    recoverOne(item) {
      const { promise, resolve } = Promise.withResolvers<Keys | undefined>()
      gathered.push({ item, done: resolve })
      if (gathered.length === 1) setImmediate(() => void recoverGathered())
      return promise
    },
    async close() {
      isClosed = true
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}

/** Logs, once at the start, which code recovers keys in this process. */
export function logRecoveryCode(log: Logger): void {
  if (recoveryCode.name === 'native') {
    log.info({ code: 'native' }, 'signatures are recovered by native code')
    return
  }
  log.warn(
    { code: 'wasm', problem: loggableError(recoveryCode.reason) },
    'signatures are recovered by WebAssembly, at a third of the speed: no native code loads here',
  )
}
