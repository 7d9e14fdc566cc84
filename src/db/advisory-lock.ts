import { createHash } from 'node:crypto'

/** Number of the advisory lock of a name, the same in every process and version. */
export function lockKey(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}
