import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { loggableError } from './loggable-error.ts'

describe('what a log says of an error', () => {
  test('is the first cause, with its code and stack', () => {
    const first = Object.assign(new Error('deadlock detected'), { code: '40P01' })
    const trace = loggableError(
      new Error('around it', { cause: new Error('nearer', { cause: first }) }),
    )
    const [head, ...calls] = trace.split('\n')
    expect(head).toBe('Error 40P01: deadlock detected')
    expect(calls[0]).toContain('loggable-error.test.ts')
    expect(trace).not.toContain('around it')
  })

  test('contains no parameter of a failed query', () => {
    const failed = new DrizzleQueryError(
      'select $1\n    at time zone $2',
      ['https://hooks.example/secret'],
      new Error('no such column'),
    )
    const trace = loggableError(failed)
    expect(trace).toContain('no such column')
    expect(trace).not.toContain('secret')
    expect(trace).not.toContain('time zone')
  })

  test('is the text of a thrown value that is not an error', () => {
    expect(loggableError('gone')).toBe('gone')
    expect(loggableError(undefined)).toBe('undefined')
  })
})
