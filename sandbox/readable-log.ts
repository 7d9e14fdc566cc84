import { z } from 'zod'
import type { Logger } from '#src/kernel/logger.ts'
import { createLogger } from '#src/log.ts'

const Line = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() })

/**
 * A log for people at a terminal: one line per entry, with secrets removed.
 *
 * @param level `warn` keeps a terminal quiet while everything works
 */
export function createReadableLog(level: string, print: (line: string) => void): Logger {
  return createLogger(level, { write: (json) => print(readable(json)) })
}

function readable(json: string): string {
  const { level, time, msg, ...fields } = Line.parse(JSON.parse(json))
  const values = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`)
  return [time.slice(11, 19), level, msg, ...values].join(' ')
}

/** The first line of a text; stacks are for log files. */
function shown(value: unknown): string {
  return typeof value === 'string' ? (value.split('\n')[0] ?? '') : JSON.stringify(value)
}
