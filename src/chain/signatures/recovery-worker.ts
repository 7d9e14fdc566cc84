import { parentPort } from 'node:worker_threads'
import { recoverPacked } from './recovery-batch.ts'

/** Worker thread of `recovery-pool.ts`: returns the public keys of each batch of signatures. */
parentPort?.on('message', (packed: Uint8Array) => {
  const keys = recoverPacked(packed)
  parentPort?.postMessage(keys, [keys.buffer])
})
