import { parentPort } from 'node:worker_threads'
import { recoverPacked } from './recovery-batch.ts'

/** Thread of the pool of `recovery-pool.ts`: answers each batch of signatures with its public keys. */
parentPort?.on('message', (packed: Uint8Array) => {
  const keys = recoverPacked(packed)
  parentPort?.postMessage(keys, [keys.buffer])
})
