import { once } from 'node:events'
import { type DestinationStream, pino } from 'pino'
import { endsWithin } from '#src/kernel/ends-within.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { currentTraceId } from '#src/kernel/trace.ts'
import { withAdvice } from './log-advice.ts'

/** Names of fields that are removed from the log at any depth. */
const SECRET_FIELDS = [
  'authorization',
  'token',
  'signature',
  'secret',
  'password',
  'destination',
  'cookie',
]

/** Patterns of secrets and mailboxes, for error texts and URLs of other code. */
const SECRET_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/fwd_[0-9A-Za-z]{10,}/g, 'fwd_…'],
  [/whsec_[0-9A-Za-z+/=]{10,}/g, 'whsec_…'],
  [/\d+:[\w-]{30,}/g, '[bot token]'],
  [/(\w+:\/\/)[^\s/@:]+:[^\s/@]+@/g, '$1…@'],
  [/[\w.+-]+@((?:[\w-]+\.)+[A-Za-z]{2,})/g, '…@$1'],
  [/\/(api\/(?:v\d+\/)?webhooks|services)\/[\w/-]+/g, '/$1/…'],
  [/\/(a|confirm|connect|unsubscribe)\/[\w.~-]{16,}/g, '/$1/…'],
  [/([?&]start(?:group)?=)[\w-]+/g, '$1…'],
  [/0x[0-9a-fA-F]{130,}/g, '[signature]'],
]

/** Removes secrets by their patterns. */
function withoutSecrets(text: string): string {
  return SECRET_SHAPES.reduce((rest, [shape, mark]) => rest.replace(shape, mark), text)
}

/** Standard output for a logger, which never keeps the process alive. */
export interface LogOutput extends DestinationStream {
  /**
   * Waits until everything is written, at most `ms`.
   * @returns false if the deadline passed first
   */
  written(ms: number): Promise<boolean>
  /** Ends the process at once. Lines not written yet are lost. */
  exit(code: number): never
}

/** Opens standard output; lines are written asynchronously, in order. */
export function openLogOutput(): LogOutput {
  const stream = pino.destination({ dest: process.stdout.fd, sync: false })
  let isWritten = true
  stream.on('drain', () => {
    isWritten = true
  })
  return {
    write: (line) => {
      isWritten = false
      stream.write(line)
    },
    written: async (ms) => isWritten || (await endsWithin(once(stream, 'drain'), ms)),
    exit: (code) => {
      // pino writes its last lines when a process exits, and would retry forever if they are not read.
      process.removeAllListeners('exit')
      process.exit(code)
    },
  }
}

/** The trace of the request that a line belongs to. */
function traceFields(): { readonly traceId?: string } {
  const traceId = currentTraceId()
  return traceId === undefined ? {} : { traceId }
}

/**
 * Creates a logger of JSON lines on standard output, or on the given stream.
 *
 * Lines of a request with a `traceparent` have the trace as `traceId`. Secret fields are removed, and texts that match a secret's pattern are cut out of every line.
 */
export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]) },
    hooks: { streamWrite: withoutSecrets },
    mixin: traceFields,
  }
  const logger = stream === undefined ? pino(options) : pino(options, stream)
  return {
    error: (fields, message) => logger.error(withAdvice(fields, message), message),
    warn: (fields, message) => logger.warn(withAdvice(fields, message), message),
    info: (fields, message) => logger.info(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
  }
}
