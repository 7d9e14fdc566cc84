import { expect, test } from 'vitest'
import { traceIdOf } from './trace.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

test.each([
  `00-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-00`,
  `01-${TRACE}-${PARENT}-01`,
  `cc-${TRACE}-${PARENT}-01-what-comes-later`,
])('%s has a trace', (header) => {
  expect(traceIdOf(header)).toBe(TRACE)
})

test.each([
  undefined,
  '',
  'garbage',
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01-more`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${TRACE.slice(1)}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}`,
  `01-${TRACE}-${PARENT}-01.more`,
  `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
  `cc-${TRACE}-${PARENT}-01-${'x'.repeat(300)}`,
  [`00-${TRACE}-${PARENT}-01`],
])('%s has none', (header) => {
  expect(traceIdOf(header)).toBeUndefined()
})
