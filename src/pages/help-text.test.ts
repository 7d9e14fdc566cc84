import { expect, test } from 'vitest'
import { parseHelpText } from './help-text.ts'

test('numbered lines are steps, lines with a bullet are points, others are paragraphs', () => {
  expect(parseHelpText('Look.\n1. One.\n2. Two.\nThen:\n• 1. A.\n• B.')).toEqual([
    { kind: 'text', line: 'Look.' },
    { kind: 'steps', lines: ['One.', 'Two.'] },
    { kind: 'text', line: 'Then:' },
    { kind: 'points', lines: ['1. A.', 'B.'] },
  ])
})

test('a paragraph that begins with a number is no step', () => {
  expect(parseHelpText('15 Minuten nach der Runde.')).toEqual([
    { kind: 'text', line: '15 Minuten nach der Runde.' },
  ])
})
